"""Set-up of all tests: which package is tested, and how hypothesis runs."""

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
