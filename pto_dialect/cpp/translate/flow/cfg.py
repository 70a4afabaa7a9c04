"""Control flow of a function: order of blocks, dominators, natural loops."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...llvm.model import BasicBlock, Function


@dataclass(slots=True, eq=False)
class NaturalLoop:
    """A loop: its header dominates all its blocks."""

    header: str
    latches: list[str]
    blocks: set[str]
    parent: NaturalLoop | None = None


@dataclass(slots=True)
class ControlFlow:
    """The reachable blocks in reverse postorder, with what is derived from their edges."""

    order: list[str]
    number: dict[str, int]
    successors: dict[str, list[str]]
    predecessors: dict[str, list[str]]
    dominator: dict[str, str]
    children: dict[str, list[str]]
    loops: dict[str, NaturalLoop] = field(default_factory=dict)
    """Loops by header."""
    innermost: dict[str, NaturalLoop] = field(default_factory=dict)
    """The innermost loop of each block that is in one."""
    is_reducible: bool = True
    _spans: dict[str, tuple[int, int]] = field(default_factory=dict)

    def dominates(self, a: str, b: str) -> bool:
        """Returns whether every path to ``b`` passes ``a``."""
        first, last = self._spans[a]
        return first <= self._spans[b][0] <= last


def successors_of(block: BasicBlock) -> list[str]:
    """Returns the successors of a block, each once."""
    return list(dict.fromkeys(block.terminator.labels))


def _reverse_postorder(entry: str, successors: dict[str, list[str]]) -> list[str]:
    found: list[str] = []
    seen = {entry}
    stack = [(entry, iter(successors[entry]))]
    while stack:
        name, remaining = stack[-1]
        following = next(remaining, None)
        if following is None:
            found.append(name)
            stack.pop()
        elif following not in seen:
            seen.add(following)
            stack.append((following, iter(successors[following])))
    return found[::-1]


def _dominators(order: list[str], number: dict[str, int], predecessors: dict[str, list[str]]) -> dict[str, str]:
    """Returns the immediate dominator of each block; that of the entry is itself (Cooper, Harvey, Kennedy)."""
    dominator = {order[0]: order[0]}
    changed = True
    while changed:
        changed = False
        for name in order[1:]:
            best = ""
            for before in predecessors[name]:
                if before not in dominator:
                    continue
                best = _common(best, before, dominator, number) if best else before
            if dominator.get(name) != best:
                dominator[name] = best
                changed = True
    return dominator


def _common(a: str, b: str, dominator: dict[str, str], number: dict[str, int]) -> str:
    while a != b:
        while number[a] > number[b]:
            a = dominator[a]
        while number[b] > number[a]:
            b = dominator[b]
    return a


def _spans(entry: str, children: dict[str, list[str]]) -> dict[str, tuple[int, int]]:
    """Returns the interval of preorder numbers of each subtree."""
    first: dict[str, int] = {}
    spans: dict[str, tuple[int, int]] = {}
    stack = [(entry, False)]
    while stack:
        name, is_left = stack.pop()
        if is_left:
            spans[name] = first[name], len(first) - 1
            continue
        first[name] = len(first)
        stack.append((name, True))
        stack.extend((child, False) for child in reversed(children[name]))
    return spans


def analyze(function: Function) -> ControlFlow:
    """Returns the control flow of a function. A flow with a cycle of two entries has ``is_reducible`` False."""
    entry = next(iter(function.blocks))
    edges = {name: successors_of(block) for name, block in function.blocks.items()}
    order = _reverse_postorder(entry, edges)
    number = {name: index for index, name in enumerate(order)}
    successors = {name: edges[name] for name in order}
    predecessors: dict[str, list[str]] = {name: [] for name in order}
    for name in order:
        for following in successors[name]:
            predecessors[following].append(name)
    dominator = _dominators(order, number, predecessors)
    children: dict[str, list[str]] = {name: [] for name in order}
    for name in order[1:]:
        children[dominator[name]].append(name)
    flow = ControlFlow(order, number, successors, predecessors, dominator, children)
    flow._spans = _spans(entry, children)
    _find_loops(flow)
    return flow


def _find_loops(flow: ControlFlow) -> None:
    for name in flow.order:
        for following in flow.successors[name]:
            if flow.number[following] > flow.number[name]:
                continue
            if not flow.dominates(following, name):
                flow.is_reducible = False
                return
            loop = flow.loops.setdefault(following, NaturalLoop(following, [], {following}))
            loop.latches.append(name)
    for loop in flow.loops.values():
        pending = list(loop.latches)
        while pending:
            name = pending.pop()
            if name not in loop.blocks:
                loop.blocks.add(name)
                pending.extend(flow.predecessors[name])
    for loop in sorted(flow.loops.values(), key=lambda loop: -len(loop.blocks)):
        loop.parent = flow.innermost.get(loop.header)
        for name in loop.blocks:
            flow.innermost[name] = loop
