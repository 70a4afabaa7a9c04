"""The option ``--target``: a chip, by the names of the targets."""

from __future__ import annotations

from typing import Any

import click

TARGETS = ("a2", "a3", "a2a3", "a5", "cpu-sim")


class TargetChoice(click.Choice[str]):
    """One of the targets; for the name of a device the error says which one it has."""

    def __init__(self) -> None:
        super().__init__(TARGETS)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            from pto_dialect.targets.choice import target_of_device  # deferred: start-up

            target = target_of_device(str(value))
            if target is None:
                raise
            raise click.BadParameter(f"{error.message} A device of this name has {target}.", ctx, param) from None
