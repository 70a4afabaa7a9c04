"""The test format of `lit lit-tests`: the RUN lines of each file, run by `run_lines`."""

import tempfile
from pathlib import Path

import lit.formats
import lit.LitConfig
import lit.Test

from run_lines import ScriptError, run_test


class RunLinesTest(lit.formats.FileBasedTest):
    """PASS or FAIL by the RUN lines; UNRESOLVED if they cannot be read."""

    def execute(self, test: lit.Test.Test, litConfig: lit.LitConfig.LitConfig):
        with tempfile.TemporaryDirectory(prefix="pto-lit-") as directory:
            try:
                report = run_test(Path(test.getSourcePath()), Path(directory))
            except ScriptError as error:
                return lit.Test.UNRESOLVED, str(error)
        return (lit.Test.PASS, "") if report is None else (lit.Test.FAIL, report)
