"""Tokens that represent an attribute in schematic text: ``"PATTERN"``, ``"PIPE_*"``."""

from __future__ import annotations

import re

PLACEHOLDER_WORD = re.compile(
    r"(?:\w+_)?(?:PATTERN|PART|DIST|ORDER|POSITION|MODE|STRIDE|TYPE|PIPE|EVENT_ID|CMP|WORD|RND)|PIPE_\*|src_op|dst_op|eventID"
)
"""An attribute's name in place of its value."""
