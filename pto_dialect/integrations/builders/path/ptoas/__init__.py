"""Stands for `ptoas` where this folder is in PYTHONPATH: see docs/builders.md of pto-dialect."""

import sys

from pto_dialect.integrations.builders.stub import replace_stub

replace_stub(sys.modules[__name__])
