"""Parts of other libraries that are not public and that this package uses all the same.

A new version of a library may change any of them. ``tests/accel/test_private_interfaces.py`` looks for each entry in
the installed versions, and for private names in the package that have no entry.
"""

from __future__ import annotations

from typing import NamedTuple


class PrivateInterface(NamedTuple):
    """Names ``names`` of ``owner``, a module or ``module:Class``, of the distribution ``library`` (``python`` for its
    own modules, ``ptodsl`` for both packages of that name). ``fallback`` says what the package does without them; empty
    where it needs them."""

    library: str
    owner: str
    names: tuple[str, ...]
    user: str
    fallback: str = ""


_CONSTRUCT = "pto_dialect/accel/operations/construct.py"
_LAUNCH = "pto_dialect/integrations/builders/launch"
_DEFINITIONS = "pto_dialect/accel/operations/deferred_definitions.py"

PRIVATE_INTERFACES = (
    PrivateInterface(
        "xdsl",
        "xdsl.ir:Operation",
        ("_operands", "_operand_uses", "_successors", "_next_op", "_prev_op", "location"),
        _CONSTRUCT,
    ),
    PrivateInterface("xdsl", "xdsl.ir:Block", ("_first_op", "_last_op", "_next_block", "_prev_block"), _CONSTRUCT),
    PrivateInterface("xdsl", "xdsl.ir:Region", ("_first_block", "_last_block"), _CONSTRUCT),
    PrivateInterface("xdsl", "xdsl.ir:Use", ("_operation", "_index", "_prev_use", "_next_use"), _CONSTRUCT),
    PrivateInterface("xdsl", "xdsl.ir:SSAValue", ("_type", "_name", "first_use"), _CONSTRUCT),
    PrivateInterface("xdsl", "xdsl.ir.core", ("SSAValues",), _CONSTRUCT),
    PrivateInterface("xdsl", "xdsl.irdl", ("get_accessors_from_op_def",), _DEFINITIONS),
    PrivateInterface("xdsl", "xdsl.irdl:OpDef", ("from_pyrdl",), _DEFINITIONS),
    PrivateInterface(
        "xdsl",
        "xdsl.irdl.declarative_assembly_format:FormatProgram",
        ("from_str",),
        "pto_dialect/accel/operations/deferred_formats.py",
    ),
    PrivateInterface(
        "xdsl", "xdsl.parser:Parser", ("_raw_scan_balanced", "_resume_from"), "pto_dialect/plugin/dialect.py"
    ),
    PrivateInterface(
        "numpy",
        "numpy._core.umath",
        ("clip", "_extobj_contextvar", "_make_extobj"),
        "pto_dialect/runtime/numerics/direct.py",
        fallback="numpy.clip, and conversions that look at the numbers",
    ),
    PrivateInterface(
        "python", "re._compiler", ("compile", "_parser", "_code", "_sre"), "pto_dialect/accel/regex_code.py"
    ),
    PrivateInterface("python", "sys", ("_getframe", "_current_frames", "_xoptions"), "tools/start.py"),
    PrivateInterface("python", "os", ("_exit",), "tools/start.py"),
    PrivateInterface("python", "threading", ("_shutdown",), "tools/start.py"),
    PrivateInterface("python", "atexit", ("_run_exitfuncs",), "tools/start.py"),
    PrivateInterface("python", "_socket", ("socket",), "tools/server/client.py"),
    PrivateInterface(
        "python", "_blake2", ("blake2b",), "pto_dialect/accel/cache.py", fallback="hashlib, which loads OpenSSL"
    ),
    PrivateInterface("python", "zipfile:ZipInfo", ("_compresslevel",), "pto_dialect/recording/write.py"),
    PrivateInterface("python", "ctypes", ("_SimpleCData",), "pto_dialect/integrations/pypto/interface.py"),
    PrivateInterface(
        "pygls",
        "pygls.protocol:JsonRPCProtocol",
        ("_send_data", "_send_response", "_shutdown"),
        "pto_dialect/lsp/protocol.py",
    ),
    PrivateInterface("python", "ctypes:LibraryLoader", ("_dlltype",), f"{_LAUNCH}/aot/library.py"),
    PrivateInterface("ptodsl", "ptodsl._runtime.launch", ("_marshal_launch_args",), f"{_LAUNCH}/ptoas_handle.py"),
    PrivateInterface(
        "ptodsl", "ptodsl._runtime.launch:LaunchHandle", ("_compiled", "_grid"), f"{_LAUNCH}/ptoas_handle.py"
    ),
    PrivateInterface(
        "ptodsl",
        "ptodsl._runtime.launch:CompiledKernelHandle",
        ("_kernel_signature", "_module_spec"),
        f"{_LAUNCH}/ptoas_handle.py",
    ),
    PrivateInterface(
        "ptodsl",
        "ptodsl.compiler.jit:JitWrapper",
        (
            *("_artifact_paths", "_compiled", "_enable_insert_sync", "_fn", "_lib", "_meta_data", "_npu_arch"),
            *("_output_dir", "_resolve_runtime_arg_types"),
        ),
        f"{_LAUNCH}/csl_wrapper.py",
    ),
)
"""All of them."""
