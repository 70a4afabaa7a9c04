"""A client of the server for agents: it starts ``pto mcp`` and fixes programs with nothing but what answers name."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from text_edits import applied

ROOT = Path(__file__).parents[2]
CODE = "import sys; sys.argv[0] = 'pto'; from tools.start import pto; pto()"
ROUNDS = 6

Call = Callable[..., Awaitable[Any]]
"""Calls a request by its name with arguments by name; answers what the server does."""


@asynccontextmanager
async def connection(folder: Path, *options: str) -> AsyncIterator[tuple[Any, Call]]:
    """A server for ``folder`` while it lasts: the client, and a function that calls requests."""
    from mcp import Client, StdioServerParameters, stdio_client

    arguments = ["-c", CODE, "mcp", str(folder), *options]
    server = StdioServerParameters(command=sys.executable, args=arguments, cwd=str(ROOT))
    async with Client(stdio_client(server)) as client:

        async def call(request: str, /, **given: Any) -> Any:
            answer = await client.call_tool(request, given)
            if answer.is_error:
                return answer.content[0].text  # pyright: ignore[reportAttributeAccessIssue]
            assert json.loads(answer.content[0].text) == answer.structured_content  # pyright: ignore[reportAttributeAccessIssue]
            return answer.structured_content

        yield client, call


async def mended(call: Call, text: str) -> str:
    """The program after the edits that answers name: of the first fix of a diagnostic, again and again, and where no
    diagnostic has one, those of ``fix``."""
    for _ in range(ROUNDS):
        answer = await call("check", text=text)
        if not answer["diagnostics"]:
            break
        fixes = [one["fixes"][0] for one in answer["diagnostics"] if "fixes" in one]
        if fixes:
            text = applied(text, fixes[0]["edits"])
            continue
        edits = (await call("fix", text=text, unsafe=True))["edits"]
        if not edits:
            break
        text = applied(text, edits)
    return text
