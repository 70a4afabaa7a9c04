"""Programs as C++ text against the public interface."""

from .errors import EmitError
from .module import emit_module

__all__ = ["EmitError", "emit_module"]
