"""The content of a launch file. Source: docs/reference/execution.md, "Launches"."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, get_args

from pto_dialect.runtime.memory.spaces import Fill
from pto_dialect.targets.backend import BACKENDS, Backend, backend_named
from pto_dialect.targets.profile import MOST_BLOCKS
from pto_dialect.targets.release import release_named, unknown_release

from ..inputs import CPP_SUFFIXES
from ..run.compare import Judgement, Tolerance
from ..run.value_text import (
    Content,
    Given,
    Number,
    OutputFile,
    Split,
    Stored,
    ValueTextError,
    file_of,
    parse_content,
    parse_given,
    parse_output,
)
from .cpp_keys import KEYS as CPP_KEYS
from .cpp_keys import CppKeys, check_keys, read_keys
from .document import Document, Key, LaunchError, Table
from .paths import Folder, PathError
from .rank_values import RankContext, RankText, Window
from .task_names import TaskFacts, check_tasks

SUFFIX = ".launch.toml"

TARGETS = ("a2", "a3", "a2a3", "a5", "cpu-sim")

DIRECTIONS = ("in", "out", "inout", "none")
"""What a task may do with an argument."""

CORES = ("cube", "vector", "vector0", "vector1")
"""Where a function of a group may run."""

MOST_RANKS = 64
"""Ranks that one launch file may have."""

_SHARED = ("program", "entry", "blocks", "arguments", "expect", "outputs", *CPP_KEYS)
_TASK = ("name", "after", "directions")
_PROFILE = ("target", "backend", "reference-release")
_KEYS = (*_PROFILE, "accumulate", "fill", "buffers", "rtol", "atol", "launch", "ranks", "windows")
_TOP = (*_SHARED, "group", "task", "order", *_KEYS)
_PART = ("program", "entry", "core", "blocks", "arguments")
_RANK = "rank"
"""Table with what one rank runs in another way."""
_EXPECT = ("value", "rtol", "atol", "equal_nan", "exact", "valid")


_ORDER = re.compile(r"submitted|random:[0-9]{1,20}")


class BufferName(NamedTuple):
    """An argument that is a buffer of the ``buffers`` table."""

    name: str


class Argument(NamedTuple):
    """The value of one argument, and its source location."""

    value: Given | BufferName | Window | RankContext
    key: Key


class Buffer(NamedTuple):
    """The initial contents of a shared buffer, and their source location."""

    value: Given
    key: Key


class Expect(NamedTuple):
    """The expected contents of a buffer or result, the tolerance, and the source location."""

    content: Content
    judgement: Judgement
    key: Key


class Target(NamedTuple):
    """A file that receives a buffer or result, and the source location."""

    file: OutputFile
    key: Key


@dataclass(frozen=True)
class Part:
    """One function of a group: ``program`` is a path, ``core`` where it runs, ``arguments`` what it alone takes."""

    key: Key
    program: str
    entry: str | None
    core: str | None
    arguments: Mapping[str, Argument]


@dataclass(frozen=True)
class Step:
    """One launch: ``program`` is a path, the tables are by the names of arguments or results; ``group`` are the
    functions that start together, none for a launch of one; ``task`` is ``None`` for launches in order; ``cpp`` is how
    C++ kernels are compiled."""

    key: Key
    program: str
    entry: str | None
    blocks: int
    arguments: Mapping[str, Argument]
    expect: Mapping[str, Expect]
    outputs: Mapping[str, Target]
    group: tuple[Part, ...] = ()
    task: TaskFacts | None = None
    cpp: CppKeys = field(default_factory=CppKeys)

    @property
    def programs(self) -> list[str]:
        """The programs of the launch."""
        return [part.program for part in self.group] or [self.program]

    @property
    def values(self) -> list[Argument]:
        """The values of all arguments."""
        tables = [self.arguments, *(part.arguments for part in self.group)]
        return [argument for table in tables for argument in table.values()]


@dataclass(frozen=True)
class Plan:
    """A launch file: launches in order, or tasks in any ``order`` that their dependencies leave, the buffers that they
    share, and what these should hold at the end.

    Where the file has ranks, what ``rank`` of them does, with the ``windows`` that its peers reach.
    """

    document: Document
    steps: tuple[Step, ...]
    target: str | None = None
    backend: Backend | None = None
    release: str | None = None
    accumulate: str | None = None
    fill: str | None = None
    buffers: Mapping[str, Buffer] = field(default_factory=dict)
    expect: Mapping[str, Expect] = field(default_factory=dict)
    outputs: Mapping[str, Target] = field(default_factory=dict)
    order: str = "submitted"
    rank: RankText | None = None
    windows: Mapping[str, Buffer] = field(default_factory=dict)

    def inputs(self) -> list[str]:
        """Returns the programs and files that the launches read."""
        arguments = [one.value for step in self.steps for one in step.values]
        given = [*arguments, *(buffer.value for one in (self.buffers, self.windows) for buffer in one.values())]
        contents: list[object] = [one.stored for one in given if isinstance(one, Given)]
        tables = [self.expect, *(step.expect for step in self.steps)]
        contents += [file_of(one.content) for table in tables for one in table.values()]
        programs = [program for step in self.steps for program in step.programs]
        return programs + [one.path for one in contents if isinstance(one, Stored)]


def read_plan(path: str, allow_outside: bool = False) -> Plan:
    """Returns the plan in file ``path``; paths in it count from its folder, and lie in it unless ``allow_outside``.
    Where the file has ranks it is that of rank 0.

    Raises :class:`LaunchError` for what is no launch file, ``OSError`` for an unreadable one.
    """
    return read_plans(path, allow_outside)[0]


def read_plans(path: str, allow_outside: bool = False, ranks: int | None = None) -> list[Plan]:
    """Returns the same for each rank; ``ranks`` prevails over the number that the file says."""
    with open(path, "rb") as stream:
        data = stream.read()
    text = data.decode("utf-8-sig", "replace")
    folder = Folder(os.path.dirname(path), allow_outside)
    return plans_of(Document(path, text), folder, default_program(path), ranks)


def plans_of(document: Document, folder: Folder, program: str | None, ranks: int | None = None) -> list[Plan]:
    """Returns the plans in a document, one for each rank; raises :class:`LaunchError`."""
    top = Table(document, (), document.content)
    count = top.count("ranks", MOST_RANKS)
    count = ranks or count
    if count is None:
        for name in ("windows", _RANK):
            if name in top.content:
                top.fail(name, "it belongs to launches of several ranks; write ranks = N at the top")
        return [_Reader(document, folder, program).plan()]
    return [_Reader(document, folder, program, RankText(number, count)).plan() for number in range(count)]


def default_program(path: str) -> str | None:
    """Returns the program beside the launch file ``path``, which has its name; a C++ kernel only where there is no
    other."""
    stem = os.path.basename(path).removesuffix(SUFFIX)
    if not stem or not path.endswith(SUFFIX):
        return None
    names = (f"{stem}.pto", *(f"{stem}{suffix}" for suffix in CPP_SUFFIXES))
    folder = os.path.dirname(path)
    return next((name for name in names if os.path.lexists(os.path.join(folder, name))), names[0])


class _Reader:
    """Converts the tables of a document into a plan."""

    def __init__(self, document: Document, folder: Folder, program: str | None, rank: RankText | None = None) -> None:
        self.document = document
        self.folder = folder
        self.program = program
        self.rank = rank
        self.windows: Mapping[str, Buffer] = {}
        self.top = Table(document, (), document.content)

    def plan(self) -> Plan:
        top = self.top
        top.only(_TOP if self.rank is None else (*_TOP, _RANK))
        launches, tasks = top.tables("launch"), top.tables("task")
        if launches and tasks:
            top.fail("task", "a launch file has [[launch]] or [[task]] tables, not both")
        if tasks and "ranks" in top.content:
            top.fail("task", "ranks run launches in order, write [[launch]]")
        if "order" in top.content and not tasks:
            top.fail("order", "launches run in the order of the file; only [[task]] tables have others")
        self.program = top.text("program") or self.program
        buffers = self.buffers(top.table("buffers"))
        self.windows = self.buffers(top.table("windows"))
        for name in buffers.keys() & self.windows.keys():
            top.table("windows").fail(name, "there is a buffer of this name as well")
        steps = tuple(self.step(one, buffers) for one in launches or tasks or [top])
        launches = launches or tasks
        expect: Mapping[str, Expect] = {}
        outputs: Mapping[str, Target] = {}
        if launches:
            for name in ("entry", "arguments", "group"):
                if name in top.content:
                    top.fail(name, f"it belongs to one of the [[launch]] tables, write {name} there")
            expect, outputs = self.expectations(top), self.outputs(top)
            for name, where in [*((n, e.key) for n, e in expect.items()), *((n, o.key) for n, o in outputs.items())]:
                if name not in buffers:
                    hint = f"there are: {', '.join(buffers)}" if buffers else "there is no [buffers] table"
                    raise self.document.error(where, f"'{name}' is no shared buffer; {hint}")
        plan = Plan(
            self.document,
            steps,
            top.text("target", TARGETS),
            backend_named(top.text("backend", BACKENDS) or ""),
            self.release(top),
            top.text("accumulate", ("fast", "exact")),
            top.text("fill", get_args(Fill)),
            buffers,
            expect,
            outputs,
            self.order(),
            self.rank,
            self.windows,
        )
        check_keys(top, [program for step in steps for program in step.programs])
        check_tasks(self.document, [(one.key, one.task) for one in steps if one.task is not None])
        self.check_tolerances(plan)
        return plan

    def release(self, top: Table) -> str | None:
        """Returns the release of the reference that the programs are made for."""
        text = top.text("reference-release")
        if text is not None and release_named(text) is None:
            top.fail("reference-release", unknown_release(text))
        return text

    def buffers(self, entries: Table) -> dict[str, Buffer]:
        """Returns the buffers of a table."""
        return {name: Buffer(self.given(entries, name), (*entries.key, name)) for name in entries.content}

    def step(self, table: Table, buffers: Mapping[str, Buffer]) -> Step:
        if table is not self.top:
            own = _TASK if table.key[0] == "task" else ()
            table.only((*_SHARED, "group", *own, *(() if self.rank is None else (_RANK,))))
        table = self.own(table)
        parts = table.tables("group")
        if parts and "entry" in table.content:
            table.fail("entry", "the functions are those of the group tables, write entry there")
        blocks = table.count("blocks", MOST_BLOCKS) or self.top.count("blocks", MOST_BLOCKS)
        group = tuple(self.part(one, table, tuple(buffers)) for one in parts)
        program = group[0].program if group else self.program_of(table)
        if table is not self.top:
            check_keys(table, [part.program for part in group] or [program])
        return Step(
            table.key,
            program,
            table.text("entry"),
            self.blocks_of(parts, blocks) or 1,
            self.arguments(table.table("arguments"), tuple(buffers)),
            self.expectations(table),
            self.outputs(table),
            group,
            self.task(table) if table.key[:1] == ("task",) else None,
            read_keys([table] if table is self.top else [self.top, table], self.path),
        )

    def task(self, table: Table) -> TaskFacts:
        """Returns what a launch is among tasks."""
        name = table.text("name") or f"task{int(table.key[1]) + 1}"
        directions = table.table("directions")
        stated = {one: directions.text(one, DIRECTIONS) or "none" for one in directions.content}
        return TaskFacts(name, table.texts("after"), {one.removeprefix("%"): word for one, word in stated.items()})

    def order(self) -> str:
        """Returns the order of tasks."""
        text = self.top.text("order") or "submitted"
        if not _ORDER.fullmatch(text):
            self.top.fail("order", f"'{text}' is no order of tasks, expected submitted or random:SEED")
        return text

    def part(self, table: Table, launch: Table, buffers: tuple[str, ...]) -> Part:
        """Returns one function of the group of ``launch``."""
        table.only(_PART)
        return Part(
            table.key,
            self.program_of(table, launch),
            table.text("entry"),
            table.text("core", CORES),
            self.arguments(table.table("arguments"), buffers),
        )

    def blocks_of(self, parts: Sequence[Table], blocks: int | None) -> int | None:
        """Returns how many blocks a launch has; functions of a group that say it themselves have the same number of
        them."""
        for part in parts:
            own = part.count("blocks", MOST_BLOCKS)
            if own is not None and blocks is not None and own != blocks:
                part.fail("blocks", f"{own} blocks, where the launch has {blocks}; functions of a group start together")
            blocks = blocks or own
        return blocks

    def program_of(self, table: Table, outer: Table | None = None) -> str:
        """Returns the path of the program that ``table``, or one around it, names."""
        around = [table, *([outer] if outer is not None else []), self.top]
        where = next((one for one in around if "program" in one.content), self.top)
        program = where.text("program") or self.program
        if program is None:
            table.fail("", 'no program is named, write program = "kernel.pto"')
        if program.endswith(SUFFIX):
            where.fail("program", f"'{program}' is a launch file; a launch runs a .pto file")
        return self.path(where, "program", program)

    def own(self, table: Table) -> Table:
        """Returns the table with what it says about this rank alone."""
        if self.rank is None or _RANK not in table.content:
            return table
        entries = table.table(_RANK)
        for name in entries.content:
            if not name.isdecimal() or int(name) >= self.rank.ranks:
                entries.fail(name, f"there are {self.rank.ranks} ranks, from 0")
            entries.table(name).only(_SHARED)
        mine = entries.table(str(self.rank.number))
        merged = dict(table.content)
        for name, value in mine.content.items():
            tables = isinstance(value, dict) and isinstance(merged.get(name), dict)
            merged[name] = {**merged[name], **value} if tables else value
        return Table(table.document, table.key, merged)

    def arguments(self, table: Table, buffers: tuple[str, ...]) -> dict[str, Argument]:
        """Returns the values of a table; words in ``buffers`` are shared buffers."""
        found: dict[str, Argument] = {}
        for name, value in table.content.items():
            key = (*table.key, name)
            if isinstance(value, str) and value in buffers:
                found[_plain(table, name, found)] = Argument(BufferName(value), key)
            else:
                found[_plain(table, name, found)] = Argument(self.argument(table, name), key)
        return found

    def argument(self, table: Table, name: str) -> Given | Window | RankContext:
        """Returns the value of key ``name``, which may be a keyword for ranks."""
        value = table.content[name]
        if self.rank is None or not isinstance(value, str):
            return self.given(table, name)
        try:
            found = self.rank.argument(value, self.windows)
        except ValueTextError as error:
            table.fail(name, str(error))
        return self.placed_given(table, name, found) if isinstance(found, Given) else found

    def given(self, table: Table, name: str) -> Given:
        """Returns the value of key ``name`` as ``--arg`` takes it, or a number."""
        value = table.content[name]
        try:
            parse = parse_given if self.rank is None else self.rank.given
            given = parse(value) if isinstance(value, str) else Given(_number(value))
        except ValueTextError as error:
            table.fail(name, str(error))
        return self.placed_given(table, name, given)

    def placed_given(self, table: Table, name: str, given: Given) -> Given:
        """Returns a file by the path from here instead of the path from the launch file."""
        stored = given.stored
        return given if stored is None else given.at(self.path(table, name, stored.path))

    def expectations(self, table: Table) -> dict[str, Expect]:
        found: dict[str, Expect] = {}
        entries = table.table("expect")
        defaults = Tolerance(self.top.tolerance("rtol"), self.top.tolerance("atol"))
        for name, value in entries.content.items():
            judgement = Judgement(defaults)
            if isinstance(value, dict):
                detail = entries.table(name)
                detail.only(_EXPECT)
                if "value" not in value:
                    entries.fail(name, 'it has no value, write value = "golden.npy"')
                relative, absolute = detail.tolerance("rtol"), detail.tolerance("atol")
                if detail.flag("exact", False) and (relative, absolute) != (None, None):
                    detail.fail("exact", "an exact comparison has no tolerances; leave out rtol and atol, or exact")
                judgement = Judgement(
                    Tolerance(
                        defaults.relative if relative is None else relative,
                        defaults.absolute if absolute is None else absolute,
                    ),
                    detail.flag("equal_nan", True),
                    detail.flag("exact", False),
                    detail.extents("valid"),
                )
                value = value["value"]
            try:
                parse = parse_content if self.rank is None else self.rank.content
                content = parse(value) if isinstance(value, str) else _number(value)
            except ValueTextError as error:
                entries.fail(name, str(error))
            content = self.placed(entries, name, content)
            found[_plain(entries, name, found)] = Expect(content, judgement, (*entries.key, name))
        return found

    def outputs(self, table: Table) -> dict[str, Target]:
        found: dict[str, Target] = {}
        entries = table.table("outputs")
        for name, value in entries.content.items():
            try:
                if not isinstance(value, str):
                    raise ValueTextError("expected the name of a file")
                file = parse_output(value if self.rank is None else self.rank.expand(value))
            except ValueTextError as error:
                entries.fail(name, str(error))
            file = file._replace(path=self.path(entries, name, file.path))
            found[_plain(entries, name, found)] = Target(file, (*entries.key, name))
        return found

    def placed(self, table: Table, name: str, content: Content) -> Content:
        """Returns a file by the path from here instead of the path from the launch file."""
        if isinstance(content, Split) and isinstance(content.whole, Stored):
            return content._replace(whole=content.whole._replace(path=self.path(table, name, content.whole.path)))
        if isinstance(content, Stored):
            return content._replace(path=self.path(table, name, content.path))
        return content

    def path(self, table: Table, name: str, path: str) -> str:
        """Returns the path from here of the file that key ``name`` names."""
        try:
            return self.folder.resolve(path)
        except PathError as error:
            table.fail(name, str(error), error.help)

    def check_tolerances(self, plan: Plan) -> None:
        """Complains about tolerances that no expectation has a use for."""
        if plan.expect or any(step.expect for step in plan.steps):
            return
        for name in ("rtol", "atol"):
            if name in self.top.content:
                self.top.fail(name, "nothing is compared here; there is no [expect] table")


def _plain(table: Table, name: str, taken: Mapping[str, object]) -> str:
    """Returns the key ``name`` without its ``%``; an argument or result has one value."""
    plain = name.removeprefix("%")
    if plain in taken:
        table.fail(name, f"{plain} is given twice, with % and without")
    return plain


def _number(value: object) -> Number:
    if isinstance(value, (int, float)):
        return Number(value, str(value).lower())
    raise ValueTextError('expected a number or a string such as "x.npy" or "zeros:f32:4x8"')


__all__ = ["SUFFIX", "Argument", "BufferName", "Expect", "LaunchError", "Part", "Plan", "Step", "Target", "read_plan"]
