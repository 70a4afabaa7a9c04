"""Operations of one chip generation in a program for another.

Their own rules do not depend on the target, so a program that mixes generations is only warned about. Source:
docs/reference/constraints.md, "Products on pointers", "Whole programs"; docs/reference/targets.md, "Choice of the
target", "Element types".
"""

from __future__ import annotations

from xdsl.ir import Operation

from pto_dialect.families import level_of
from pto_dialect.ir.core.index import OPS

from ..engine.checks import Check, checks
from ..engine.context import Context
from ..engine.rule import LOCATIONS


def _check_level(level: str) -> Check:
    def mixes_targets(op: Operation, ctx: Context) -> None:
        profile = ctx.profile
        if not ctx.explicit or not profile.is_foreign(op.name.removeprefix("pto."), level):
            return
        function = ctx.function
        if level == "micro-cube":
            ctx.report_once("mad-target", op, function, f"{op.name} exists on a5 only, the target is {profile.name}")
            return
        other = "a5" if profile.arch == "a2a3" else "a2a3"
        module = function.parent_op() if function is not None else None
        message = f"the target is {profile.name}, but {op.name} is an operation of {other}"
        ctx.report_once("arch-mix", op, module, message)

    return mixes_targets


def _register() -> None:
    mnemonics: dict[str, list[str]] = {}
    for mnemonic, (family, _, _) in OPS.items():
        level = level_of(family)
        if level is not None:
            mnemonics.setdefault(level, []).append(mnemonic)
    for level, names in mnemonics.items():
        checks(LOCATIONS, *names)(_check_level(level))


_register()
