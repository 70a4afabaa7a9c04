"""Which function answers which request."""

from __future__ import annotations

from typing import Any

from .server import Handler

FEATURES: tuple[tuple[str, Handler, Any], ...] = ()
"""Method of the protocol, who answers, what the client is told beforehand."""
