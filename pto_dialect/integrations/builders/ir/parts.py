"""What the wrappers of parts of a program have in common."""

from __future__ import annotations

from typing import NoReturn

from xdsl.ir import Operation


class PartOfProgram:
    """Base of wrappers that are no values of their own: all of them are views of one program."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Raises ``TypeError``: such objects are neither copied nor pickled."""
        name = type(self).__name__
        raise TypeError(
            f"cannot pickle or copy {name!r}, which is part of a program: operations have clone(), and the text of a "
            "module, str(module), is read by Module.parse"
        )


def depth_of(op: Operation) -> int:
    """Returns how many operations with regions are inside each other, ``op`` among them."""
    depth, level = 0, [op]
    while level:
        depth += 1
        regions = [region for one in level for region in one.regions]
        level = [inner for region in regions for block in region.blocks for inner in block.ops if inner.regions]
    return depth
