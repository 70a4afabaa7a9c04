"""The server: requests of agents over the Model Context Protocol, on standard input and output."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from pto_dialect.version import __version__

from .calls import Calls, Limits
from .folder import Folder, RefusedError
from .requests import Requests

INSTRUCTIONS = (
    "PTO tile programs (.pto). Write a program, check it, apply the edits of one fix of the answer (or call fix), and "
    "check again until there are no errors; then sanitize it. search_operations and explain say which operations there "
    "are and how they are written; do not guess their syntax."
)

_CHANGING = frozenset(("fix",))


def make_server(folder: str, limits: Limits) -> MCPServer:
    """Returns a server for the programs of ``folder``; each call has its own ``limits``."""
    requests = Requests(Folder(folder), Calls(limits))
    server = MCPServer("pto", version=__version__, instructions=INSTRUCTIONS, log_level="CRITICAL")
    for name, function in inspect.getmembers(requests, inspect.ismethod):
        if not name.startswith("_"):
            hints = ToolAnnotations(read_only_hint=name not in _CHANGING, destructive_hint=False, open_world_hint=False)
            server.tool(name=name, description=" ".join((function.__doc__ or "").split()), annotations=hints)(
                _refusing(function)
            )
    return server


def _refusing(function: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """Returns the function, with refusals and mistakes of the system as errors of the protocol."""

    @wraps(function)
    def answered(*arguments: Any, **named: Any) -> dict[str, Any]:
        try:
            return function(*arguments, **named)
        except RefusedError as error:
            raise ToolError(str(error)) from None
        except OSError as error:
            raise ToolError(f"the call failed: {error.strerror or type(error).__name__}") from None

    return answered
