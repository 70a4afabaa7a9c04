"""Dominance between the blocks of a region. Rule ``dominance``."""

from __future__ import annotations

from xdsl.ir import Block, Operation, Region

from pto_dialect.ir.core.roles import Role, has_role

from .context import Context


class Dominators:
    """The tree of immediate dominators of the blocks of one region."""

    def __init__(self, region: Region) -> None:
        """Builds the dominator tree of a region that has a block."""
        entry = region.first_block
        assert entry is not None
        order = postorder(entry)
        self.number = {block: position for position, block in enumerate(order)}
        before: dict[Block, list[Block]] = {block: [] for block in order}
        for block in order:
            for target in _targets(block):
                before[target].append(block)
        above: dict[Block, Block] = {entry: entry}
        changed = True
        while changed:
            changed = False
            for block in reversed(order):
                if block is entry:
                    continue
                known = [source for source in before[block] if source in above]
                found = known[0]
                for other in known[1:]:
                    found = self._meet(found, other, above)
                if above.get(block) is not found:
                    above[block] = found
                    changed = True
        self.span = _intervals(entry, above)

    def _meet(self, a: Block, b: Block, above: dict[Block, Block]) -> Block:
        number = self.number
        while a is not b:
            if number[a] < number[b]:
                a = above[a]
            else:
                b = above[b]
        return a

    def is_reachable(self, block: Block) -> bool:
        """Returns whether ``block`` is reachable from the entry block."""
        return block in self.number

    def dominates(self, a: Block, b: Block) -> bool:
        """Returns whether every path to ``b`` leads through ``a``; both must be reachable."""
        first, last = self.span[a]
        return first <= self.span[b][0] <= last


def _targets(block: Block) -> list[Block]:
    last = block.last_op
    return [] if last is None else [target for target in last.successors if target.parent is block.parent]


def postorder(entry: Block) -> list[Block]:
    """Returns the blocks that are reachable from ``entry`` in postorder."""
    order: list[Block] = []
    seen = {entry}
    stack = [(entry, iter(_targets(entry)))]
    while stack:
        block, targets = stack[-1]
        for target in targets:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(_targets(target))))
                break
        else:
            order.append(block)
            stack.pop()
    return order


def _intervals(entry: Block, above: dict[Block, Block]) -> dict[Block, tuple[int, int]]:
    """Numbers the dominator tree: first and last preorder number of each subtree."""
    below: dict[Block, list[Block]] = {}
    for block, parent in above.items():
        if block is not entry:
            below.setdefault(parent, []).append(block)
    first: dict[Block, int] = {}
    span: dict[Block, tuple[int, int]] = {}
    stack = [(entry, False)]
    while stack:
        block, left = stack.pop()
        if left:
            span[block] = (first[block], len(first) - 1)
            continue
        first[block] = len(first)
        stack.append((block, True))
        stack.extend((child, False) for child in below.get(block, ()))
    return span


class _Visibility:
    """Decides which values an operation may use; caches block positions and dominator trees."""

    def __init__(self) -> None:
        self.places: dict[Block, dict[Operation, int]] = {}
        self.dominators: dict[Region, Dominators] = {}

    def position(self, op: Operation, block: Block) -> int:
        """Returns the position of an operation in its block."""
        if block not in self.places:
            self.places[block] = {other: number for number, other in enumerate(block.ops)}
        return self.places[block][op]

    def tree(self, region: Region) -> Dominators:
        """Returns the dominator tree of a region."""
        if region not in self.dominators:
            self.dominators[region] = Dominators(region)
        return self.dominators[region]

    def is_visible(self, user: Operation, owner: Operation | Block) -> bool:
        """Returns whether the definitions of ``owner`` dominate ``user``, or ``user`` is unreachable."""
        home = owner if isinstance(owner, Block) else owner.parent_block()
        if home is None:
            return False
        block = user.parent_block()
        while block is not None and block.parent is not home.parent:
            outer = block.parent_op()
            if outer is None or has_role(outer, Role.FUNCTION):
                return False
            user, block = outer, outer.parent_block()
        if block is None or home.parent is None:
            return False
        if block is home:
            return isinstance(owner, Block) or self.position(owner, home) < self.position(user, home)
        tree = self.tree(home.parent)
        return not tree.is_reachable(block) or (tree.is_reachable(home) and tree.dominates(home, block))


def check_dominance(region: Region, ctx: Context) -> list[Region]:
    """Checks every use inside ``region`` and its nested regions, and returns these regions. Unreachable blocks may use
    any value."""
    known = _Visibility()
    waiting = [region]
    covered: list[Region] = []
    while waiting:
        current = waiting.pop()
        covered.append(current)
        if current.first_block is None:
            continue
        several = current.first_block.next_block is not None
        for block in current.blocks:
            runs = not several or known.tree(current).is_reachable(block)
            for op in block.ops:
                if runs:
                    for value in dict.fromkeys(op.operands):
                        if not known.is_visible(op, value.owner):
                            ctx.report(
                                "dominance", op, "this value is not defined on every path that leads here", at=value
                            )
                waiting.extend(op.regions)
    return covered
