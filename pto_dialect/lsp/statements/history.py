"""What a text has done so far where the next statement begins: the last operations, the open regions, and the values
that nothing has used yet. It is read from the text alone, which need not be complete."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core_dialects.core_ops import ALIASES, CORE_SHAPES

BEGIN: Final[str] = "{"
END: Final[str] = "}"
"""Stand for the beginning and the end of a region."""
REMARK: Final[str] = "//"
"""Stands for a comment."""
ARGUMENT, FUNCTION, MODULE = "argument", "func.func", "builtin.module"
_FRAMES: Final[dict[str, bool]] = {FUNCTION: True, MODULE: True, BEGIN: True, END: True, REMARK: True}
"""What is around statements."""
_REMARKS: Final[dict[str, bool]] = {REMARK: True}

_STATEMENT = re.compile(r'[ \t]*(?:(%[^=\n"]*)=[ \t]*)?"?([A-Za-z_][\w]*(?:\.[\w.]+)?)"?(?=[\s<\[({]|$)')
_VALUE = re.compile(r"%[\w$.-]+")
_WRITTEN = re.compile(r"\bouts\s*\(([^:)]*)")
_PARAMETER = re.compile(r"(%[\w$.-]+)\s*:\s*([^%]*)")
_FUNCTION_NAME = re.compile(r"@([\w$.]+)")
_NAMED_TYPE = re.compile(r"![A-Za-z_]\w*")
_MEMORY = re.compile(r"[<,=] ?(vec|mat|left|right|acc|bias|scaling|ub|l1|l0a|l0b|l0c|gm|bt|fb)\b")
_THIN = ((re.compile(r"\dx1x|cols ?= ?1,"), "column"), (re.compile(r"[ ,<]1x\d|rows ?= ?1,"), "row"))
_FLOAT = re.compile(r"(?::.*|^)\bb?f\d+")
_FLAG = re.compile(r"PIPE_\w+|EVENT_ID\d|\d")
_ELEMENT = re.compile(r"x?(hif8|f8E\w+|f4\w+|bf16|f16|f32|u?i8|u?i16|u?i32|i64)(?=[,>])|<(b8|b16|b32)>")
"""An element type, or the elements of a mask."""
_TYPE = re.compile(
    r"!?\b(?:pto\.[\w.]+|memref|vector|tensor)<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>"
    r"|!pto\.[\w.]+|\b(?:index|bf16|u?i\d+|f\d+\w*|hif8)\b"
)
_ATTRIBUTES = (
    re.compile(r'\btarget_arch\s*=\s*"(\w+)"'),
    re.compile(r"\bkernel_kind<(\w+)>|\b(simt)_entry\b"),
    re.compile(r'\bbackend\s*=\s*"(\w+)"'),
)
"""Attributes of modules and functions that say what they are for."""
_REMARKED = re.compile(r"[A-Za-z][\w.]*\w")
_OTHER_RESULTS = {"arith.cmpi": ("i1",), "arith.cmpf": ("i1",)}
"""Types of results that are not in the text of their statement."""
_YIELDING = re.compile(r"\biter_args\b|->")
_YIELD, CONDITION = "scf.yield", "scf.condition"
_ENDS = {"scf.while": CONDITION, "scf.parallel": "", "scf.reduce": ""}
_AGAIN = {CONDITION: _YIELD}
"""What ends the next region of an operation, by what ended the one before."""
_NEWEST = 4
_NOTHING = ("", "", "")
NUMBERS = ("integer", "float")
"""Kinds of types that any operation may have."""


def _end_of(name: str, code: str) -> str:
    """Returns what must end a region of an operation: the values that it yields, and the condition of a loop, come
    last."""
    if not name.startswith("scf."):
        return ""
    return _ENDS.get(name, _YIELD if _YIELDING.search(code) else "")


def _purpose_of(code: str, outer: tuple[str, str, str]) -> tuple[str, str, str]:
    """Returns what the attributes in a header say, completed by what is stated around it."""
    found = [pattern.search(code) for pattern in _ATTRIBUTES]
    target, kind, backend = ((match[match.lastindex or 0] if match else "") for match in found)
    return target or outer[0], kind or outer[1], backend or outer[2]


class Written(NamedTuple):
    """A statement, or a brace."""

    name: str
    results: tuple[str, ...] = ()
    code: str = ""
    """What follows the name."""

    @property
    def is_frame(self) -> bool:
        """Whether this is a brace or has functions or statements inside."""
        return _FRAMES.get(self.name, False)

    @property
    def is_remark(self) -> bool:
        """Whether this is a comment."""
        return _REMARKS.get(self.name, False)


def statements_of(text: str) -> Iterator[Written]:
    """Yields the statements of a text in their order, with :data:`BEGIN` and :data:`END` where a region begins and
    ends, and :data:`REMARK` for comments."""
    pending: list[Written] = []
    for line in text.splitlines():
        code, _, remark = line.partition("//")
        code = code.strip()
        match = _STATEMENT.match(code)
        name = ALIASES.get(match[2], match[2]) if match else ""
        known = name in OPS or name in CORE_SHAPES
        if known or code.startswith("}"):
            yield from pending
            pending = []
        if known and match is not None:
            pending = [Written(name, tuple(_VALUE.findall(match[1] or "")), code[match.end() :])]
        elif pending and code:
            pending[0] = pending[0]._replace(code=f"{pending[0].code} {code}")
        if remark.strip():
            pending.append(Written(REMARK, code=remark))
        if pending and pending[0].is_remark:
            yield pending.pop()
        if code.startswith("}"):
            yield Written(END)
        if code.endswith("{"):
            yield from pending
            pending = []
            yield Written(BEGIN)
    yield from pending


def kind_of_type(text: str) -> str:
    """Returns what is typical of the last type in a text: its memory and whether it is one row or column, or its
    name."""
    if "tile" in text or "ptr<" in text or "memref" in text:
        memory = _MEMORY.findall(text)
        if not memory:
            return "view" if "view" in text else "gm"
        if "tile" not in text:
            return memory[-1]
        thin = next((f" {word}" for pattern, word in _THIN if pattern.search(text)), "")
        return f"{memory[-1]} tile{thin}"
    names = re.findall(r"!pto\.([a-z_.]+)", text)
    return names[-1] if names else NUMBERS[bool(_FLOAT.search(text))]


class History:
    """Follows statements; ``aliases`` are the names of types."""

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self.aliases = aliases
        self.last = ""
        """The last operation or brace."""
        self.done: list[str] = []
        """The operations so far."""
        self.regions: list[str] = []
        """The operations whose regions are open."""
        self.ends: list[str] = []
        """What ends each of these regions for certain, or nothing."""
        self.sizes: list[int] = []
        """How many operations are in each of these regions so far."""
        self.purpose = _NOTHING
        """The target, the kind of the kernel and the backend, as far as the function or its module says them."""
        self.arguments: tuple[str, ...] = ()
        """The names of the arguments of the function."""
        self.unused: dict[str, tuple[str, str]] = {}
        """The operation that has written each value that no statement has read since, and the kind of its type."""
        self.kinds: dict[str, str] = {}
        self.elements: set[str] = set()
        """The element types of the function."""
        self.element = ""
        """The last of them."""
        self.types: dict[str, None] = {}
        """The texts of the types of values in the function, in the order of the text."""
        self.flags: list[tuple[str, ...]] = []
        """The pipes and event of each flag that is set and for which nothing has waited."""
        self.waiting = ""
        """The pipe that the last statement has made wait for another one."""
        self.name = ""
        """The name of the function."""
        self.above: list[str] = []
        """The last parts of names in comments since the last statement."""
        self.remarked: dict[str, None] = {}
        """The same of all comments."""
        self._closed = ("", "")
        self._code = ""
        self._module = _NOTHING

    def follow(self, statement: Written) -> None:
        """Takes a statement as done, or notes the names in a comment."""
        if statement.is_remark:
            words = [word.rpartition(".")[2].lower() for word in _REMARKED.findall(statement.code)]
            self.above += words
            self.remarked.update(dict.fromkeys(words))
            return
        self.waiting = ""
        _STEPS.get(statement.name, History._use)(self, statement)
        if not statement.is_frame:
            self.done.append(statement.name)
            self.above = []
            if self.sizes:
                self.sizes[-1] += 1
        self._note_types(statement)
        self.last, self._code = statement.name, statement.code

    def _note_types(self, statement: Written) -> None:
        code = self._expanded(statement.code)
        if not statement.is_frame:
            self.types.update(dict.fromkeys(_TYPE.findall(code)))
            self.types.update(dict.fromkeys(_OTHER_RESULTS.get(statement.name, ())))
        for words in _ELEMENT.findall(code):
            self.element = "".join(words)
            self.elements.add(self.element)

    def _begin(self, statement: Written) -> None:
        again = self.last == END
        region, end = self._closed if again else (self.last, _end_of(self.last, self._code))
        self.regions.append(region)
        self.sizes.append(0)
        self.ends.append(_AGAIN.get(end, end) if again else end)

    def _end(self, statement: Written) -> None:
        self._closed = (self.regions.pop(), self.ends.pop()) if self.regions else ("", "")
        del self.sizes[-1:]

    def _expanded(self, code: str) -> str:
        return _NAMED_TYPE.sub(lambda found: self.aliases.get(found[0], found[0]), code) if self.aliases else code

    def _enter_module(self, statement: Written) -> None:
        self._module = _purpose_of(statement.code, self._module)

    def _enter(self, statement: Written) -> None:
        header = self._expanded(statement.code)
        self.purpose = _purpose_of(header, self._module)
        self.kinds = {name: kind_of_type(text) for name, text in _PARAMETER.findall(header)}
        self.arguments = tuple(self.kinds)
        self.unused = {name: (ARGUMENT, kind) for name, kind in self.kinds.items()}
        self.elements, self.element = set(), ""
        self.types = dict.fromkeys(one for _, text in _PARAMETER.findall(header) for one in _TYPE.findall(text)[:1])
        found = _FUNCTION_NAME.search(header)
        self.name = found[1] if found else ""

    def _name(self, statement: Written) -> None:
        """Takes the results of a constant, which need no use."""
        if statement.results:
            kind = kind_of_type(self._expanded(statement.code))
            self.kinds.update(dict.fromkeys(statement.results, kind))

    def _use(self, statement: Written) -> None:
        written = [name for part in _WRITTEN.findall(statement.code) for name in _VALUE.findall(part)]
        for name in (*_VALUE.findall(statement.code), *statement.results):
            self.unused.pop(name, None)
        self._name(statement)
        for name in (*statement.results, *written):
            self.unused[name] = (statement.name, self.kinds.get(name, ""))

    def _set(self, statement: Written) -> None:
        self.flags.append(tuple(_FLAG.findall(statement.code)))

    def _wait(self, statement: Written) -> None:
        flag = tuple(_FLAG.findall(statement.code))
        if flag in self.flags:
            self.flags.remove(flag)
        pipes = [word.removeprefix("PIPE_") for word in flag if word.startswith("PIPE_")]
        self.waiting = pipes[1] if len(pipes) > 1 else ""

    def newest(self) -> list[tuple[str, str]]:
        """Returns what has written the values that nothing has used, and the kinds of their types, the newest first."""
        return list(dict.fromkeys(reversed(self.unused.values())))[:_NEWEST]

    def uses(self, statement: Written) -> set[tuple[str, str]]:
        """Returns the same of the values that a statement is the first one to use."""
        return {self.unused[name] for name in self.first_used(statement)}

    def first_used(self, statement: Written) -> set[str]:
        """Returns the values that a statement is the first one to use."""
        names = _VALUE.findall(_WRITTEN.sub("", statement.code))
        return {name for name in names if name in self.unused}


_STEPS: dict[str, Callable[[History, Written], None]] = {
    BEGIN: History._begin,
    END: History._end,
    FUNCTION: History._enter,
    MODULE: History._enter_module,
    "arith.constant": History._name,
    "pto.set_flag": History._set,
    "pto.wait_flag": History._wait,
    "pto.wait_flag_dyn": History._wait,
}
"""What operations do that do more than use values."""


def history_of(text: str, aliases: Mapping[str, str]) -> History:
    """Returns the history at the end of a text."""
    found = History(aliases)
    for statement in statements_of(text):
        found.follow(statement)
    return found
