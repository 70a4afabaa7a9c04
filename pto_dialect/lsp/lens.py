"""Runs and proofs from the editor: code lenses above the first function, and what these do."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable

from lsprotocol import types

from pto_dialect.children import python_command, run_child_async
from pto_dialect.driver.launch.plan import SUFFIX

from .program.document import Document
from .proofs import ORDERS, PROVE, carry_out
from .server import Server

RUN, SANITIZE = "pto.run", "pto.sanitize"
_TITLES = {RUN: "run", SANITIZE: "sanitize"}
_OPTIONS = {RUN: (), SANITIZE: ("--sanitize",)}


def launch_file(document: Document) -> str | None:
    """Returns the launch file beside a document, which has its name."""
    if document.path is None:
        return None
    path = os.path.splitext(document.path)[0] + SUFFIX
    return path if os.path.isfile(path) else None


def lenses(server: Server, document: Document, params: types.CodeLensParams) -> list[types.CodeLens] | None:
    """Above the first function: ``run`` and ``sanitize`` of a program with a launch file, ``prove the order`` of one
    with signals."""
    if not server.settings.code_lens:
        return None
    titles = _TITLES if launch_file(document) is not None else {}
    if ORDERS.search(document.text):
        titles = {**titles, PROVE: "prove the order"}
    place = document.pieces.functions[0][0] if document.pieces is not None else 0
    area = document.range(place, place)
    return [
        types.CodeLens(area, types.Command(title, name, arguments=[document.uri])) for name, title in titles.items()
    ] or None


def register(server: Server) -> None:
    """The commands of the lenses: the launches of the file beside a document that is open."""
    for name in _TITLES:
        server.command(name)(_command(server, name))

    async def prove(uri: str) -> str | None:
        return await carry_out(server, uri)

    server.command(PROVE)(prove)


def _command(server: Server, name: str) -> Callable[[str], Awaitable[str | None]]:
    async def carry_out(uri: str) -> str | None:
        document = server.documents.get(uri)
        path = launch_file(document) if document is not None else None
        if path is None:
            return None
        output = await _run((*_OPTIONS[name], path))
        server.window_log_message(types.LogMessageParams(types.MessageType.Info, output))
        last = output.strip().rpartition("\n")[2]
        server.window_show_message(types.ShowMessageParams(types.MessageType.Info, f"{_TITLES[name]}: {last}"))
        return output

    return carry_out


async def _run(arguments: Iterable[str]) -> str:
    code, output = await run_child_async(python_command("pto_dialect.tools.start:pto_run", *arguments))
    return output or f"ended with {code}"
