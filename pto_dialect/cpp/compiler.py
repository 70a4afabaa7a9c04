"""C++ kernels as LLVM IR.

The compiler only translates text to text: nothing is linked or executed. It gets fixed options, the headers in
``include/`` instead of those of a device compiler, a temporary folder, limits of time and memory, and no variable of
this process that could change what it does.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from pto_dialect.cpp import limits as limited
from pto_dialect.cpp.asked import asked_files, asked_option
from pto_dialect.cpp.compilers import Compiler, find_compiler
from pto_dialect.cpp.includes import INCLUDE, IncludedFiles, included_files
from pto_dialect.cpp.ir_cache import IrCache, Made, compiling_code, header_version
from pto_dialect.cpp.launches import (
    CORES,
    DEVICE_WORDS,
    Launch,
    are_called,
    blank_launches,
    find_cores,
    has_addresses,
    is_template,
)
from pto_dialect.cpp.limits import is_over, run_compiler
from pto_dialect.cpp.options import BadOption, check_options
from pto_dialect.cpp.outside import depends, embeds, may_depend, outside_file, unread_texts
from pto_dialect.cpp.precompiled import can_come_first, precompiled
from pto_dialect.cpp.recursion import FLAGS as SPECIALIZING
from pto_dialect.cpp.recursion import calls_left
from pto_dialect.cpp.unset import WARNINGS, certain_errors, declared_without_value, with_queries

FLAGS = (
    *("-std=c++20", "-g1", "-S", "-emit-llvm", "-fno-discard-value-names", "-UNDEBUG"),
    # Loops stay loops, also those that C++ allows to assume finite; calculations stay as they are written.
    *("-fno-finite-loops", "-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize", "-ffp-contract=off"),
    *("-mllvm", "-disable-lftr", "-mllvm", "-indvars-widen-indvars=false", "-mllvm", "-replexitval=never"),
    *("-mllvm", "-disable-loop-idiom-memset", "-mllvm", "-disable-loop-idiom-memcpy"),
    # Address 0 is one of a local memory.
    *("-fno-strict-aliasing", "-fno-delete-null-pointer-checks"),
    *("-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-stack-protector", "-fno-sanitize=all"),
    # Functions such as sqrtf are instructions.
    *("-fno-math-errno", "-fno-builtin-modf", "-fno-builtin-modff"),
    *("-Wno-everything", *WARNINGS, "-fno-color-diagnostics", "-ferror-limit=8", "-ftemplate-backtrace-limit=3"),
    "-fspell-checking",
)  # fmt: skip
"""Options for every kernel."""

TARGET_MACROS = {
    "a2a3": ("__NPU_ARCH__=2201", "PTO_NPU_ARCH_A2A3", "__CCE_AICORE__=220", "MEMORY_BASE"),
    "a5": (
        "__NPU_ARCH__=3510",
        "PTO_NPU_ARCH_A5",
        "__CCE_AICORE__=310",
        "REGISTER_BASE",
        "__DAV_C310__",
        "PTO_URMA_SUPPORTED=",
    ),
}
CORE_MACROS = {
    ("a2a3", "vector"): ("__DAV_VEC__", "__DAV_C220_VEC__"), ("a2a3", "cube"): ("__DAV_CUBE__", "__DAV_C220_CUBE__"),
    ("a5", "vector"): ("__DAV_VEC__", "__DAV_C310_VEC__"), ("a5", "cube"): ("__DAV_CUBE__", "__DAV_C310_CUBE__"),
}  # fmt: skip

_LATE = re.compile(r"\w*[a-z]\w*(=[^\n\0]*)?\Z")
"""Definitions of names with small letters."""
_ENTRY = re.compile(r"(::)?[A-Za-z_]\w*(::\w+)*\s*(<[\w\s:<>,.'()*&+-]*>)?\Z")
_MACRO_INCLUDED = re.compile(r"^[ \t]*(?:#|%:)[ \t]*include[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
_INCLUDED = re.compile(r"^\.+ (.+)\n", re.MULTILINE)
"""What the option -H prints for each file."""
_MISSING = re.compile(r": fatal error: '[^']*' file not found")
_DIAGNOSTIC = re.compile(r"\S.*?:\d+:\d+: (fatal error|error|warning|note): ")
_OWN_FILE = "<pto>"
"""The file of lines above a kernel."""
# __has_embed shows whether a file exists, and the compiler does not report which.
_HEAD = f"""\
#line 1 "{_OWN_FILE}"
#undef __has_embed
"""
_INLINE = "#pragma clang attribute pto.push(__attribute__((always_inline)), apply_to = function)\n"
_MARKS = "#define aclFloat16 half\n" + "".join(
    f'#undef {word}\n#define {word} __attribute__((annotate("pto.device"), used))\n' for word in sorted(DEVICE_WORDS)
)
"""Where host code calls functions of the device, as for the CPU simulator: keeps them, and halves have their type."""
_POISON = "#pragma clang poison dependency\n"
"""Makes the compiler report ``dependency``, of whatever macros have made it."""
_POISONED = "poisoned identifier"
_TAIL = "\n#pragma clang attribute pto.pop\n"
ENTRY_FILE = "--entry"
"""The file of what the option of this name says, in messages of the compiler."""
_ENTRY_LINE = 'extern "C" { auto *__pto_entry = &%s; }\n'


class CompileError(Exception):
    """What the compiler printed about a kernel that it did not accept."""


class IncludeError(CompileError):
    """A kernel includes a file that it may not include."""


@dataclass(frozen=True, slots=True)
class IrText:
    """LLVM IR for one core, the command that makes it, the launches that the C++ text contains, and the files that it
    includes, without those of the compiler and of this package."""

    text: str
    command: tuple[str, ...]
    core: str
    launches: tuple[Launch, ...]
    files: tuple[str, ...]


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
    job = _Job(compiler, included, name, blanked, entry, tuple(defines), tuple(includes), (target, core))
    command, source = job.plain()
    found = included.lookups((*defines, entry or ""))
    there = filter(os.path.exists, found or ())
    parts = (compiler.identity, header_version(INCLUDE), compiling_code(), *command, source, *there)
    cache = IrCache(parts) if cached and found is not None else None
    made = cache.read() if cache else None
    if made is None:
        made, unset = _compiled(job)
        if unset:
            # A declaration in a macro cannot be changed.
            with suppress(CompileError):
                queried = replace(job, text=with_queries(job.text, unset))
                made, _ = _compiled(queried)
                job = queried
        made = _without_recursion(job, made)
        if cache:
            cache.write(made)
    return IrText(made.text, (*command, name), core, tuple(launches), made.files)


_Unset = dict[tuple[int, int], str]
"""Variables without a value on some path, by line and column."""


def _compiled(job: _Job) -> tuple[Made, _Unset]:
    """Returns what comes of a kernel. Where it cannot be compiled after the headers, it is compiled as its text
    says."""
    call = job.after_headers()
    if call is not None:
        with suppress(_Failed):
            return _run(job, *call)
    return _run(job, *job.plain())


def _without_recursion(job: _Job, made: Made) -> Made:
    """Returns what comes of a kernel whose functions call themselves with constant arguments; ``made`` for all
    others."""
    left = calls_left(made.text)
    if left:
        with suppress(CompileError):
            copied, _ = _run(job, *replace(job, is_recursive=True).plain())
            if calls_left(copied.text) < left:
                return copied
    return made


def cores_of(text: str, name: str, includes: Sequence[str] = ()) -> tuple[str, ...]:
    """Returns the cores that a kernel and the files that it includes have code for: ``vector``, ``cube`` or both."""
    return find_cores(included_files(text, name, includes).whole)


def compile_command(
    text: str, name: str, *, defines: Sequence[str] = (), includes: Sequence[str] = (), target: str = "a2a3",
    core: str = "vector", cxx: str | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """Returns the command that compiles a kernel for one core, without running it."""
    included = included_files(text, name, includes)
    job = _Job(find_compiler(cxx), included, name, text, None, tuple(defines), tuple(includes), (target, core))
    return (*job.plain()[0], name)


@dataclass(frozen=True, slots=True)
class _Job:
    """What is compiled: a text without launches and its options, for a chip and a core. ``is_recursive`` is for
    functions that call themselves."""

    compiler: Compiler
    included: IncludedFiles
    name: str
    text: str
    entry: str | None
    defines: tuple[str, ...]
    includes: tuple[str, ...]
    chip: tuple[str, str]
    is_recursive: bool = False

    def plain(self) -> tuple[tuple[str, ...], str]:
        """Returns the command, and the text that is compiled. Names that headers may use are defined after them."""
        late = [definition for definition in self.defines if _LATE.match(definition)]
        head = "#include <pto/pto-inst.hpp>\n" if late else ""
        early = [f"-D{definition}" for definition in self.defines if definition not in late]
        device = ("-include", "pto_device.hpp")
        compiler = (*self.compiler.command, *self.compiler.options)
        command = (*compiler, *self._header_options(), *early, *self._folder_options(), *device)
        return command, self._whole_text(head, late)

    def is_poisoned(self) -> bool:
        """Returns whether the compiler has to look for a directive that only it can notice."""
        return may_depend(self.given_text())

    def given_text(self) -> str:
        """Returns the texts of the kernel and of the files that it includes, and the definitions of the options."""
        return "\n".join([self.included.whole, *self.defines])

    def after_headers(self) -> tuple[tuple[str, ...], str] | None:
        """Returns the command and the text for a compiler that has read the headers; ``None`` where that is no
        possibility."""
        if not can_come_first(self.included, self.defines):
            return None
        command = precompiled(self.compiler, self._header_options())
        if command is None:
            return None
        return (*command, *self._folder_options()), self._whole_text("", self.defines)

    def _header_options(self) -> tuple[str, ...]:
        is_auto = not has_addresses(self.included.whole)
        macros = (*TARGET_MACROS[self.chip[0]], *CORE_MACROS[self.chip], *(["__PTO_UNPLACED__"] if is_auto else []))
        host, fallback = (os.path.join(INCLUDE, folder) for folder in ("host", "fallback"))
        own = (f"-I{INCLUDE}", f"-I{host}", "-idirafter", fallback)
        copies = SPECIALIZING if self.is_recursive else ()
        return (*FLAGS, *copies, *(f"-D{macro}" for macro in macros), *own)

    def _folder_options(self) -> tuple[str, ...]:
        check_options(self.defines, self.includes)
        named = (f"-I{os.path.abspath(folder)}" for folder in self.includes)
        return ("-iquote", os.path.dirname(os.path.abspath(self.name)), *named)

    def _whole_text(self, head: str, late: Sequence[str]) -> str:
        quoted = self.name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
        instance = ""
        if self.entry is not None:
            if not _ENTRY.match(self.entry.strip()):
                text = f"'{self.entry}' is no function, nor a template with its arguments such as kernel<half, 128>"
                raise BadOption(text)
            instance = f'#line 1 "{ENTRY_FILE}"\n{_ENTRY_LINE % self.entry.strip()}'
        defined = "".join(f"#define {one.partition('=')[0]} {one.partition('=')[2] or 1}\n" for one in late)
        poison = _POISON if self.is_poisoned() else ""
        marks = _MARKS if are_called(self.included.whole) else ""
        inline, end = ("", "\n") if self.is_recursive else (_INLINE, _TAIL)
        return f'{_HEAD}{inline}{head}{marks}{poison}{defined}#line 1 "{quoted}"\n{self.text}{end}{instance}'


class _Failed(CompileError):
    """A compilation that ended with an error, after which another one may be tried."""


def _run(job: _Job, command: tuple[str, ...], source: str) -> tuple[Made, _Unset]:
    import tempfile  # deferred: start-up

    with tempfile.TemporaryDirectory(prefix="pto-cpp-") as folder:
        written, made = os.path.join(folder, "kernel.cpp"), os.path.join(folder, "kernel.ll")
        with open(written, "w", encoding="utf-8", errors="surrogateescape") as stream:
            stream.write(source)
        call = [*command, *job.included.options(folder), written]
        code, output = run_compiler([*call, "-H", "-o", made, *asked_option(command, folder)], folder)
        own = (INCLUDE + os.sep, os.path.dirname(command[0]) + os.sep, folder + os.sep)
        asked = asked_files(call, folder, job.given_text())
        files = [os.path.abspath(path) for path in (*_INCLUDED.findall(output), *asked)]
        files = sorted({path for path in files if not path.startswith(own)})
        _check_includes(files, output, job)
        if code != 0 or not os.path.exists(made):
            is_final = is_over(code) or _MISSING.search(output)
            raise (CompileError if is_final else _Failed)(_message(code, _INCLUDED.sub("", output), folder))
        if errors := certain_errors(output):
            raise CompileError(errors)
        with open(made, encoding="utf-8", errors="surrogateescape") as stream:
            return Made(stream.read(), tuple(files)), declared_without_value(output, job.name)


def _check_includes(files: Sequence[str], output: str, job: _Job) -> None:
    """Raises ``IncludeError`` where a file is outside of the project; no output of the compiler is shown."""
    included, compiler, name = job.included, job.compiler, job.name
    texts = "\n".join([job.given_text(), *unread_texts(files, included.files, compiler)])
    is_made = _POISONED in output if job.is_poisoned() else may_depend(texts)
    if embeds(texts):
        raise IncludeError(f"{_place_of('embed', '', included, compiler, name)}: fatal error: #embed is not read")
    if is_made or depends(texts):
        place = _place_of("dependency", "", included, compiler, name)
        raise IncludeError(f"{place}: fatal error: #pragma dependency is not read")
    outside = outside_file(files, included.folder, [*included.folders, INCLUDE], compiler)
    if outside is not None:
        place = _place_of("include", os.path.basename(outside), included, compiler, name)
        advice = f"'{outside}' is outside of the project; name its folder with -I"
        raise IncludeError(f"{place}: fatal error: {advice}")


def _place_of(directive: str, file: str, included: IncludedFiles, compiler: Compiler, name: str) -> str:
    """Returns where a text that may be shown has a directive with the name of a file, or else one with a macro that may
    be this name; the beginning of the kernel if there is none."""
    texts = {name: included.text, **included.files}
    folders = [*included.folders, INCLUDE]
    shown = {
        path: text
        for path, text in texts.items()
        if path == name or not outside_file([path], included.folder, folders, compiler)
    }
    for find in (partial(_line_of, directive, file), _line_of_macro):
        for path, text in shown.items():
            if line := find(text):
                return f"{path}:{line}"
    return f"{name}:1:1"


def _line_of_macro(text: str) -> str:
    """Line and column of the first directive that includes what a macro states; empty where there is none."""
    found = _MACRO_INCLUDED.search(text)
    return f"{text.count(chr(10), 0, found.start(1)) + 1}:{found.start(1) - found.start() + 1}" if found else ""


def _line_of(directive: str, file: str, text: str) -> str:
    """Line and column of the first directive with the name of a file; empty where a text does not have it like that."""
    for number, line in enumerate(text.splitlines(), 1):
        if directive in line and file in line and line.lstrip().startswith(("#", "%:")):
            return f"{number}:{max(line.find(chr(34)), line.find('<'), 0) + 1}"
    return ""


def _message(code: int, output: str, folder: str) -> str:
    """Returns what a compiler has printed, without what is not about the kernel."""
    output = output.replace(folder + os.sep, "")
    lines = [line for line in output.splitlines() if line and not line.startswith("zig: warning")]
    if "clang frontend command failed" in output or "PLEASE submit a bug report" in output:
        return "the compiler crashed; another one may not, --cxx names it"
    if not any("error:" in line for line in lines):
        limits = f"the compiler did not finish within {limited.SECONDS} s and {limited.MEGABYTES} MB"
        lines.append(limits if is_over(code) else f"the compiler ended with code {code}")
    return "\n".join(_without_own(lines))


def _without_own(lines: Sequence[str]) -> Iterator[str]:
    """Yields the lines without warnings, what a fatal error causes at the end of the text, and the number of errors."""
    is_shown = True
    for line in lines:
        if match := _DIAGNOSTIC.match(line):
            is_note = match[1] == "note"
            is_shown = (is_shown or not is_note) and match[1] != "warning" and not line.startswith(_OWN_FILE)
        if is_shown and not line.endswith(("error generated.", "errors generated.")):
            yield line


__all__ = ["CORES", "BadOption", "CompileError", "IncludeError", "IrText", "compile_to_ir", "cores_of"]
