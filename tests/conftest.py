"""Set-up of all tests: which package is tested, how hypothesis runs, and that Ctrl-C works."""

import signal
from pathlib import Path

from hypothesis import settings

import pto_dialect

# `tools/` and `grammar/` stand beside the package. Found here first, they belong to the same checkout as the
# package, whatever is installed in this Python.
pto_dialect.__path__.append(str(Path(__file__).parents[1]))

# Examples differ widely in cost (a first call loads the grammar), which a deadline would report as flaky.
settings.register_profile("default", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile("default")

# Shells start background jobs with Ctrl-C ignored, and programs inherit that: tests that send it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
