"""The schema of the Debug Adapter Protocol, as the package debugpy has it."""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any


@cache
def definitions() -> dict[str, Any] | None:
    """The types of messages; ``None`` where the package is not installed."""
    found = find_spec("debugpy")
    if found is None or find_spec("jsonschema") is None:
        return None
    folder = Path(next(iter(found.submodule_search_locations or ())))
    path = folder / "_vendored/pydevd/_pydevd_bundle/_debug_adapter/debugProtocol.json"
    return json.loads(path.read_text(encoding="utf-8"))["definitions"] if path.exists() else None


def type_of(message: dict[str, Any]) -> str:
    """The type that a message of an adapter has to have."""
    if message["type"] == "response":
        name = message["command"][0].upper() + message["command"][1:]
        return f"{name}Response" if message["success"] else "ErrorResponse"
    name = message["event"]
    return f"{name[0].upper()}{name[1:]}Event"


@cache
def _validator(name: str) -> Any:
    from jsonschema import Draft4Validator

    return Draft4Validator({"$ref": f"#/definitions/{name}", "definitions": definitions()})


def mistakes(message: dict[str, Any]) -> list[str]:
    """What is wrong with a message; none where the schema is not there."""
    if definitions() is None:
        return []
    return [f"{error.json_path}: {error.message}" for error in _validator(type_of(message)).iter_errors(message)]
