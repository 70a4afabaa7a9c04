"""Results as JUnit XML, which CI systems show."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from xml.etree import ElementTree

from ..run.status import OK, WRONG_PROGRAM
from .suite import COLORS, FileResult

_UNSPEAKABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold."""


def junit_xml(results: Sequence[FileResult]) -> str:
    """Returns one test case for each launch file: a program or result that is wrong is a failure, a wrong file an
    error."""
    failures = sum(result.code == WRONG_PROGRAM for result in results)
    errors = sum(result.code not in (OK, WRONG_PROGRAM) for result in results)
    numbers = {
        "tests": str(len(results)),
        "failures": str(failures),
        "errors": str(errors),
        "time": f"{sum(result.seconds for result in results):.6f}",
    }
    root = ElementTree.Element("testsuites", numbers)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "pto-run", **numbers, "skipped": "0"})
    for result in results:
        folder, file = os.path.split(result.path)
        case = ElementTree.SubElement(
            suite,
            "testcase",
            {
                "classname": _clean(folder.replace(os.sep, ".") or "."),
                "name": _clean(file),
                "file": _clean(result.path),
                "time": f"{result.seconds:.6f}",
            },
        )
        if result.code != OK:
            kind = "failure" if result.code == WRONG_PROGRAM else "error"
            told = ElementTree.SubElement(case, kind, {"message": _clean(result.reason), "type": kind})
            told.text = _clean(result.err)
        if result.out:
            ElementTree.SubElement(case, "system-out").text = _clean(result.out)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _clean(text: str) -> str:
    return _UNSPEAKABLE.sub("\ufffd", COLORS.sub("", text))
