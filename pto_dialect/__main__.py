"""``python -m pto_dialect`` is the command ``pto``."""

import os
import sys
from importlib import import_module

# Python has put the current folder first; what lies there is imported only if the package itself does.
if not sys.flags.safe_path and os.path.dirname(os.path.dirname(os.path.abspath(__file__))) != sys.path[0]:
    del sys.path[0]

# The commands are installed inside the package; in a checkout they are next to it.
import_module("pto_dialect.tools.start").pto()
