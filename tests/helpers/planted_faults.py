"""Faults that are planted into C++ kernels, those of the examples too, and what has to be reported where."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parents[1] / "cpp" / "planted"
EXAMPLES = Path(__file__).parents[2] / "examples" / "cpp"


def kernel_path(kernel: str) -> Path:
    """Returns the file of a correct kernel."""
    own = FOLDER / f"{kernel}.cpp"
    return own if own.exists() else EXAMPLES / own.name


class Fault(NamedTuple):
    """One change of a kernel: ``old`` becomes ``new``. ``rule`` has to be reported at the first ``where`` after
    ``after`` in the changed text."""

    kernel: str
    name: str
    old: str
    new: str
    rule: str
    where: str
    after: str = ""

    def text(self) -> str:
        """Returns the incorrect kernel."""
        text = kernel_path(self.kernel).read_text(encoding="utf-8")
        assert text.count(self.old) == 1, self.old
        return text.replace(self.old, self.new)

    def position(self) -> tuple[int, int]:
        """Returns the line and column that has to be named."""
        text = self.text()
        start = text.index(self.where, text.index(self.after))
        return text.count("\n", 0, start) + 1, start - (text.rfind("\n", 0, start) + 1) + 1


RUNS = {
    "vector_loop": "--arg x=random:f32:1024 --arg y=random:f32:1024 --arg z=zeros:f32:1024 --arg n=4",
    "double_buffer": "--arg in=random:f32:640 --arg out=zeros:f32:640 --arg n=5",
    "softmax": "--arg in=random:f32:1024 --arg out=zeros:f32:1024",
    "gemm": "--arg c=zeros:f32:4096 --arg a=random:f16:12288 --arg b=random:f16:12288",
    "tail": "--arg in=random:f32:2560 --arg out=zeros:f32:2560 --arg rows=40 --arg s=2.0",
    "blocks": "--arg in=random:f32:1024 --arg bias=random:f32:128 --arg out=zeros:f16:1024 --blocks 2",
    "product_plus_one": "--auto",
    "scalars": "--arg in=ones:f32:64 --arg out=zeros:f32:64",
}
"""The launch of each kernel, correct or incorrect."""


def places(document: dict[str, Any], rule: str) -> list[tuple[int, int]]:
    """Returns the lines and columns that findings of a rule name."""
    found: list[tuple[int, int]] = []
    for one in document["diagnostics"]:
        if one["rule"] == rule:
            start = one["location"]["start"]
            found.append((start["line"], start["column"]))
    return found


def _read() -> Iterator[Fault]:
    for line in (FOLDER / "faults.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, rule, where, after, change = line.split(" | ", 4)
            old, new = change.replace("\\n", "\n").split(" => ")
            kernel, _, fault = name.partition("/")
            yield Fault(kernel, fault, old, new, rule, where, after)


FAULTS = list(_read())
