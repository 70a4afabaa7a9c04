"""Passes between the forms of tile programs: assembly, Level 1 (values) and Level 2 (buffers)."""

from .assembly import to_assembly
from .level1 import to_level1
from .level2 import to_level2
from .rebuild import RefusedError

__all__ = ["RefusedError", "to_assembly", "to_level1", "to_level2"]
