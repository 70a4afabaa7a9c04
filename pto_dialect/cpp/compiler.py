"""C++ kernels as LLVM IR.

The compiler only translates text to text: nothing is linked or executed. It gets fixed options, the headers in
``include/`` instead of those of a device compiler, a temporary folder, limits of time and memory, and no variable of
this process that could change what it does.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pto_dialect.children import run_limited
from pto_dialect.cpp.compilers import Compiler, find_compiler
from pto_dialect.cpp.includes import INCLUDE, IncludedFiles, included_files
from pto_dialect.cpp.ir_cache import IrCache, header_version
from pto_dialect.cpp.launches import CORES, Launch, blank_launches, find_cores, has_addresses, is_template
from pto_dialect.cpp.outside import embeds, outside_file

SECONDS = 30
MEGABYTES = 6000

FLAGS = (
    *("-std=c++20", "-O1", "-g1", "-S", "-emit-llvm", "-fno-discard-value-names", "-UNDEBUG"),
    # Loops stay loops, also those that C++ allows to assume finite; calculations stay as they are written.
    *("-fno-finite-loops", "-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize", "-ffp-contract=off"),
    *("-mllvm", "-disable-lftr", "-mllvm", "-indvars-widen-indvars=false", "-mllvm", "-replexitval=never"),
    *("-mllvm", "-disable-loop-idiom-memset", "-mllvm", "-disable-loop-idiom-memcpy"),
    # Address 0 is one of a local memory.
    *("-fno-strict-aliasing", "-fno-delete-null-pointer-checks"),
    *("-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-stack-protector", "-fno-sanitize=all"),
    *("-Wno-everything", "-fno-color-diagnostics", "-ferror-limit=8", "-ftemplate-backtrace-limit=3"),
)  # fmt: skip
"""Options for every kernel."""

TARGET_MACROS = {
    "a2a3": ("__NPU_ARCH__=2201", "PTO_NPU_ARCH_A2A3", "__CCE_AICORE__=220", "MEMORY_BASE"),
    "a5": ("__NPU_ARCH__=3510", "PTO_NPU_ARCH_A5", "__CCE_AICORE__=310", "REGISTER_BASE", "__DAV_C310__"),
}
CORE_MACROS = {
    ("a2a3", "vector"): ("__DAV_VEC__", "__DAV_C220_VEC__"), ("a2a3", "cube"): ("__DAV_CUBE__", "__DAV_C220_CUBE__"),
    ("a5", "vector"): ("__DAV_VEC__", "__DAV_C310_VEC__"), ("a5", "cube"): ("__DAV_CUBE__", "__DAV_C310_CUBE__"),
}  # fmt: skip

_VARIABLES = ("PATH", "HOME", "USERPROFILE", "LOCALAPPDATA", "SYSTEMROOT", "SDKROOT", "DEVELOPER_DIR")
_DEFINITION = re.compile(r"[A-Za-z_]\w*(=[^\n\0]*)?\Z")
_LATE = re.compile(r"\w*[a-z]\w*(=[^\n\0]*)?\Z")
"""Definitions of names with small letters."""
_ENTRY = re.compile(r"(::)?[A-Za-z_]\w*(::\w+)*\s*(<[\w\s:<>,.'()*&+-]*>)?\Z")
_INCLUDED = re.compile(r"^\.+ (.+)\n", re.MULTILINE)
"""What the option -H prints for each file."""
_DIAGNOSTIC = re.compile(r"\S.*?:\d+:\d+: (?:fatal error|error|warning|note): ")
_UNENDED = "unterminated '#pragma clang attribute push'"
ENTRY_FILE = "--entry"
"""The file of what the option of this name says, in messages of the compiler."""
_ENTRY_LINE = 'extern "C" { auto *__pto_entry = &%s; }\n'


class CompileError(Exception):
    """What the compiler printed about a kernel that it did not accept."""


class IncludeError(CompileError):
    """A kernel includes a file that it may not include."""


class BadOption(Exception):
    """A definition or an entry that cannot be handed to a compiler."""


@dataclass(frozen=True, slots=True)
class IrText:
    """LLVM IR for one core, the command that makes it, and the launches that the C++ text contains."""

    text: str
    command: tuple[str, ...]
    core: str
    launches: tuple[Launch, ...]


def compile_to_ir(
    text: str, name: str, *, defines: Sequence[str] = (), includes: Sequence[str] = (), target: str = "a2a3",
    core: str = "vector", cxx: str | None = None, entry: str | None = None, cached: bool = True,
) -> IrText:  # fmt: skip
    """Compiles a kernel for one core; ``name`` is the file as its user calls it, and as the locations call it.

    ``entry`` is a function, or a function template with its arguments, ``kernel<half, 128>``; the text then has a
    variable ``@__pto_entry`` that points to it, unless it is a template without arguments. Raises ``CompilerMissing``,
    ``CompileError`` or ``BadOption``.
    """
    compiler = find_compiler(cxx)
    included = included_files(text, name, includes)
    blanked, launches = blank_launches(text)
    if entry is not None and is_template(entry, included.whole):
        entry = None  # The launches instantiate it.
    late = [definition for definition in defines if _LATE.match(definition)]
    source = _whole_text(blanked, name, entry, late)
    defines = [definition for definition in defines if definition not in late]
    options = _options(compiler, name, defines, includes, (target, core), not has_addresses(included.whole))
    command = (*compiler.command, *options)
    found = included.lookups()
    is_kept = cached and found is not None
    cache = IrCache((compiler.identity, header_version(INCLUDE), *options, source, *(found or ()))) if is_kept else None
    ir = cache.read() if cache else None
    if ir is None:
        ir, dependencies = _run(compiler, command, source, included, name)
        if cache:
            cache.write(ir, dependencies)
    return IrText(ir, (*command, name), core, tuple(launches))


def cores_of(text: str, name: str, includes: Sequence[str] = ()) -> tuple[str, ...]:
    """The cores that a kernel and the files that it includes have code for: ``vector``, ``cube`` or both."""
    return find_cores(included_files(text, name, includes).whole)


def compile_command(
    text: str, name: str, *, defines: Sequence[str] = (), includes: Sequence[str] = (), target: str = "a2a3",
    core: str = "vector", cxx: str | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """Returns the command that compiles a kernel for one core, without running it."""
    compiler = find_compiler(cxx)
    is_auto = not has_addresses(included_files(text, name, includes).whole)
    return (*compiler.command, *_options(compiler, name, defines, includes, (target, core), is_auto), name)


def _whole_text(blanked: str, name: str, entry: str | None, late: Sequence[str]) -> str:
    """The text that is compiled. Names that headers may use are defined after those of this package."""
    quoted = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    instance = ""
    if entry is not None:
        if not _ENTRY.match(entry.strip()):
            raise BadOption(f"'{entry}' is no function, nor a template with its arguments such as kernel<half, 128>")
        instance = f'#line 1 "{ENTRY_FILE}"\n{_ENTRY_LINE % entry.strip()}'
    defined = "".join(f"#define {one.partition('=')[0]} {one.partition('=')[2] or 1}\n" for one in late)
    head = f"#include <pto/pto-inst.hpp>\n{defined}" if late else ""
    return f'{head}#line 1 "{quoted}"\n{blanked}\n#pragma clang attribute pop\n{instance}'


def _options(
    compiler: Compiler, name: str, defines: Sequence[str], includes: Sequence[str], chip: tuple[str, str], is_auto: bool
) -> tuple[str, ...]:
    for folder in includes:
        if not os.path.isdir(folder):
            raise BadOption(f"-I names '{folder}', which is no folder")
    for definition in defines:
        if not _DEFINITION.match(definition):
            raise BadOption(f"'{definition}' is no definition; write NAME or NAME=VALUE")
    macros = [*TARGET_MACROS[chip[0]], *CORE_MACROS[chip], *(["__PTO_UNPLACED__"] if is_auto else [])]
    return (
        *FLAGS, *compiler.options, *(f"-D{macro}" for macro in (*macros, *defines)),
        f"-I{INCLUDE}", "-iquote", os.path.dirname(os.path.abspath(name)),
        "-idirafter", os.path.join(INCLUDE, "fallback"),
        *(f"-I{os.path.abspath(folder)}" for folder in includes), "-include", "pto_device.hpp",
    )  # fmt: skip


def _run(
    compiler: Compiler, command: tuple[str, ...], source: str, included: IncludedFiles, name: str
) -> tuple[str, list[str]]:
    """The text that the compiler makes, and the files that it has read."""
    with tempfile.TemporaryDirectory(prefix="pto-cpp-") as folder:
        written, made = os.path.join(folder, "kernel.cpp"), os.path.join(folder, "kernel.ll")
        with open(written, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(source)
        variables = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
        variables |= {"TMPDIR": folder, "TMP": folder, "TEMP": folder, "LC_ALL": "C"}
        variables |= {"ZIG_LOCAL_CACHE_DIR": folder, "ZIG_GLOBAL_CACHE_DIR": folder}
        code, output = run_limited(
            [*command, *included.options(folder), "-H", written, "-o", made], folder,
            variables=variables, seconds=SECONDS, megabytes=MEGABYTES,
        )  # fmt: skip
        own = (INCLUDE + os.sep, os.path.dirname(command[0]) + os.sep, folder + os.sep)
        files = [os.path.abspath(path) for path in _INCLUDED.findall(output)]
        files = sorted({path for path in files if not path.startswith(own)})
        _check_includes(files, included, compiler, name)
        if code != 0 or not os.path.exists(made):
            raise CompileError(_message(code, _INCLUDED.sub("", output), folder))
        with open(made, encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read(), files


def _check_includes(files: Sequence[str], included: IncludedFiles, compiler: Compiler, name: str) -> None:
    """Raises ``IncludeError`` where a file is outside of the project; no output of the compiler is shown."""
    if embeds(included.whole):
        raise IncludeError(f"{_place_of('embed', '', included, compiler, name)}: fatal error: #embed is not read")
    outside = outside_file(files, included.folder, [*included.folders, INCLUDE], compiler)
    if outside is not None:
        place = _place_of("include", os.path.basename(outside), included, compiler, name)
        advice = f"'{outside}' is outside of the project; name its folder with -I"
        raise IncludeError(f"{place}: fatal error: {advice}")


def _place_of(directive: str, file: str, included: IncludedFiles, compiler: Compiler, name: str) -> str:
    """Where a text that may be shown has a directive with the name of a file; else the beginning of the kernel."""
    for path, text in {name: included.text, **included.files}.items():
        line = _line_of(directive, file, text)
        if line and (path == name or not outside_file([path], included.folder, [*included.folders, INCLUDE], compiler)):
            return f"{path}:{line}"
    return f"{name}:1:1"


def _line_of(directive: str, file: str, text: str) -> str:
    """Line and column of the first directive with the name of a file; empty where a text does not have it like that."""
    for number, line in enumerate(text.splitlines(), 1):
        if directive in line and file in line and line.lstrip().startswith(("#", "%:")):
            return f"{number}:{max(line.find(chr(34)), line.find('<'), 0) + 1}"
    return ""


def _message(code: int, output: str, folder: str) -> str:
    """What a compiler has printed, without what is not about the kernel."""
    output = output.replace(folder + os.sep, "")
    lines = [line for line in output.splitlines() if line and not line.startswith("zig: warning")]
    if "clang frontend command failed" in output or "PLEASE submit a bug report" in output:
        return "the compiler crashed; another one may not, --cxx names it"
    errors = [line for line in lines if "error:" in line]
    if any(_UNENDED in line for line in errors) and len(errors) > 1:
        lines = list(_without_unended(lines))
    elif not errors:
        is_over = code < 0 or code >= 126
        limits = f"the compiler did not finish within {SECONDS} s and {MEGABYTES} MB"
        lines.append(limits if is_over else f"the compiler ended with code {code}")
    return "\n".join(lines)


def _without_unended(lines: Sequence[str]) -> Iterator[str]:
    """The lines without the error that a fatal one causes in the headers, and without the number of errors."""
    is_shown = True
    for line in lines:
        if _DIAGNOSTIC.match(line):
            is_shown = _UNENDED not in line
        if is_shown and not line.endswith(("error generated.", "errors generated.")):
            yield line


__all__ = ["CORES", "BadOption", "CompileError", "IncludeError", "IrText", "compile_to_ir", "cores_of"]
