"""Kernels of a module: the functions that a host can launch, and how a command line names them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from .errors import TranslationError
from .launches import RUNTIME_ENTRIES, instance_of, is_template, kernel_names, procedure_names
from .llvm.reader import Module

_ENTRY, _DEVICE = "pto.entry", "pto.device"
_LENGTH = re.compile(r"\d+")
_UNNAMED = "_GLOBAL__N_"
_MOST_LISTED = 12
_SPELLINGS = {"_Float16": "half", "__bf16": "bfloat16_t"}
_TYPES = re.compile(r"\b(?:_Float16|__bf16)\b")


def find_entries(modules: Sequence[Module], entry: str | None, sources: Mapping[str, str]) -> list[str]:
    """Returns the names of the kernels of the modules, those that ``entry`` names if it is given: a function, or a
    template of which the file's launches say the arguments. Raises ``TranslationError`` where there is none."""
    chosen = [module.globals["__pto_entry"].initial for module in modules if "__pto_entry" in module.globals]
    if any(initial.startswith("@") for initial in chosen):
        return [next(initial for initial in chosen if initial.startswith("@"))[1:].strip('"')]
    names = list(dict.fromkeys(name for module in modules for name in _kernels(module)))
    readable = {name: _in_some(modules, name) for name in names}
    if entry is not None:
        others = {name: readable_name(module, name) for module in modules for name in module.function_names}
        found = [name for name, text in readable.items() if _is_named(entry, name, text)]
        found = found or [name for name, text in others.items() if entry in (name, text)]
        if not found and entry.rpartition("::")[2] not in _templates(sources):
            raise TranslationError(f"the file has no function {entry}", help=list_of(list(readable.values())))
        names = found
    if not names:
        templates = [entry] if entry is not None else _templates(sources)
        if templates:
            example = instance_of(templates[0], sources.values())
            help = f"nothing in the file launches it; give its arguments, for example --entry '{example}'"
            raise TranslationError(f"the kernel {templates[0]} is a template", help=help)
        raise TranslationError("the file has no kernel", help=_how_to_name_one(sources))
    return names


def _how_to_name_one(sources: Mapping[str, str]) -> str:
    functions = next(filter(None, map(procedure_names, sources.values())), [])
    return f"mark a function __global__, or {list_of(functions) or 'name one with --entry'}"


def _kernels(module: Module) -> list[str]:
    found = module.annotated(_ENTRY) or [name for name in RUNTIME_ENTRIES if name in module.function_names]
    return found or _called(module)


def _called(module: Module) -> list[str]:
    """Returns the functions of the device that host code calls; without any, those that no other of them calls."""
    device = {name: _debug_name(module, name) for name in module.annotated(_DEVICE)}
    shown = frozenset(device.values())
    by_host: set[str] = set()
    by_device: set[str] = set()
    for name in module.function_names if device else ():
        for location in module.locations(name):
            callees = [frame.function for frame in location.frames()[:-1] if frame.function in shown]
            (by_device if name in device else by_host).update(callees if name in device else callees[-1:])
    return [name for name, text in device.items() if (text in by_host if by_host else text not in by_device)]


def _in_some(modules: Sequence[Module], name: str) -> str:
    """Returns the name of a function as a command line has it, from the first module that has the function."""
    module = next((module for module in modules if name in module.function_names), None)
    return qualified_name(module, name) if module is not None else name


def _is_named(entry: str, name: str, readable: str) -> bool:
    """Returns whether ``entry`` means a function: as it is, without its template arguments, without its namespaces."""
    bare = readable.partition("<")[0]
    return entry in (name, readable, bare) or bare.endswith("::" + entry.removeprefix("::"))


def _templates(sources: Mapping[str, str]) -> list[str]:
    """Returns the kernels of the texts that are templates."""
    return [name for text in sources.values() for name in kernel_names(text) if is_template(name, text)]


def several_kernels(modules: Sequence[Module], names: Sequence[str], entry: str | None) -> TranslationError:
    """Returns the error for a choice between kernels that only the user can make."""
    help = list_of([_in_some(modules, name) for name in names])
    if entry is None:
        return TranslationError("the file has several kernels", help=help)
    return TranslationError(f"the file launches the template {entry} with several lists of arguments", help=help)


def list_of(names: Sequence[str]) -> str:
    """Returns the names of kernels as a command line has them."""
    shown = ", ".join(f"--entry {shlex.quote(name)}" for name in names[:_MOST_LISTED])
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return f"name one: {shown}{more}" if names else ""


def readable_name(module: Module, name: str) -> str:
    """Returns the name of a function as the C++ text has it, with template arguments."""
    return _TYPES.sub(lambda match: _SPELLINGS[match[0]], _debug_name(module, name))


def _debug_name(module: Module, name: str) -> str:
    return module.metadata.fields(module.function_debug(name)).get("name", name)


def qualified_name(module: Module, name: str) -> str:
    """Returns the name of a function with its namespaces, which only the mangled name has."""
    return "::".join([*_namespaces(name), readable_name(module, name)])


def _namespaces(mangled: str) -> list[str]:
    parts: list[str] = []
    at = 3 if mangled.startswith("_ZN") else len(mangled)
    while match := _LENGTH.match(mangled, at):
        at = match.end() + int(match[0])
        parts.append(mangled[match.end() : at])
    return [part for part in parts[:-1] if not part.startswith(_UNNAMED)]


__all__ = ["RUNTIME_ENTRIES", "find_entries", "list_of", "qualified_name", "readable_name", "several_kernels"]
