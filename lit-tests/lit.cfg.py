"""Configuration of `lit lit-tests`; the package has to be installed in the Python that runs lit."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from lit_format import RunLinesTest
from run_lines import EXCLUDED_DIRECTORIES, SUFFIXES

config.name = "pto-dialect"
config.test_format = RunLinesTest()
config.suffixes = list(SUFFIXES)
config.excludes = list(EXCLUDED_DIRECTORIES)
config.test_source_root = str(HERE)
