"""``python -m pto_dialect`` is the command ``pto``."""

from importlib import import_module

# The commands are installed inside the package, and stand beside it in a checkout.
import_module("pto_dialect.tools.start").pto()
