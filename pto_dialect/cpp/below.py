"""Names of the instruction set below the interface, which the headers of this package do not declare.

A compiler reports each of them as unknown, and then what follows from that. Here the first one of each kind is the
error, with what to write instead. Source: docs/cpp.md, "Operations".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from pto_dialect.diagnostics.diagnostic import Diagnostic

_UNKNOWN = re.compile(r"(?:use of undeclared identifier|unknown type name|no template named) '(\w+)'.*")


class _Kind(NamedTuple):
    """Names that belong together, what they are, and what to write instead."""

    names: re.Pattern[str]
    what: str
    help: str


_VECTOR_WORDS = """
vabs vadd vaddc vaddcs vadds vaddrelu vand vaxpy vbitsort vbr vcadd vcgadd vcgmax vcgmin vci vcmax vcmin vcmp vcmpv
vcmpvs vcmps vcpadd vconv_\\w+ vcvt vdintlv vdiv vdup vector_\\w+ vexp vexpdif vgather vgather2 vgatherb vgathers
vhist_\\w+ vintlv vld vldas vldi vlds vldus vldx2 vln vlrelu vmadd vmaddrelu vmax vmaxs vmin vmins vmod vmov vmrgsort\\d
vmul vmula vmull vmuls vnchwconv_\\w+ vneg vnot vor vpack vprelu vreducev2 vrec vrelu vrsqrt vscatter vsel
vselr vshl vshls vshr vshrs vsqrt vsqz vsstb vsldb vst vstar vstas vsts vstu vstur vstus vstx2 vsub vsubc vsubcs vsubs
vsubrelu vtranspose vtrc vunpack vusqz vxor
"""
_KINDS = (
    _Kind(
        re.compile(r"__simt_\w+|__cce_simt_\w+|LAUNCH_BOUND|async_invoke|cce_async_invoke|asc_vf_call"),
        "{name} is of work-items (SIMT functions), which are not translated",
        "use operations of tiles such as TGATHER and MGATHER; a .pto program may launch work-items (pto.simt_launch)",
    ),
    _Kind(
        re.compile(r"ATOMIC_\w+|st_atomic|set_st_atomic_cfg|atomicAdd|atomicMax|atomicMin|atomicCAS|atomicExch"),
        "{name} is of atomic accesses of scalars, which are not translated",
        "use TSTORE with AtomicAdd, AtomicMax or AtomicMin",
    ),
    _Kind(
        re.compile(
            r"MaskReg|RegTensor|UnalignReg|PAT_\w+|CreatePredicate|__VEC_SCOPE__|mem_bar|"
            r"p(?:set|lt|ge|and|or|xor|not|sel|intlv|dintlv|pack|unpack|lds|ldi|sts|sti|stu)(?:_b\d+)?|"
            + "|".join(_VECTOR_WORDS.split())
        ),
        "{name} is of vector instructions below the interface, which are not translated",
        "use operations of tiles such as TADD and TROWSUM; a .pto program may have vector instructions",
    ),
    _Kind(
        re.compile(
            r"mad|mad_mx|load_cbuf_to_c[ab]\w*|load_gm_to_c[ab]\w*|copy_matrix_cc_to_\w+|img2col\w*|set_fmatrix\w*"
        ),
        "{name} is of cube instructions below the interface, which are not translated",
        "use TLOAD, TMOV, TEXTRACT, TMATMUL and TSTORE; a .pto program may have cube instructions",
    ),
)


def named_below(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Returns the first error of each kind of name below the interface; all errors where there is none."""
    named: dict[_Kind, Diagnostic] = {}
    for one in found:
        unknown = _UNKNOWN.fullmatch(one.message)
        kind = unknown and next((kind for kind in _KINDS if kind.names.fullmatch(unknown[1])), None)
        if unknown and kind and kind not in named:
            named[kind] = one._replace(message=kind.what.format(name=unknown[1]), help=kind.help, notes=())
    return list(named.values()) or list(found)
