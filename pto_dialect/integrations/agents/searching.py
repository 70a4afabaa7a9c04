"""Searches operations in a process of its own, and prints the results as JSON."""

from __future__ import annotations

import json
import sys

from pto_dialect.driver.explain.page import unmarked
from pto_dialect.driver.explain.search.ranking import search


def main() -> None:
    """The arguments are the question and how many results are wanted at most."""
    question, most = sys.argv[1], int(sys.argv[2])
    found = [{"name": one.key, "kind": one.kind, "summary": unmarked(one.summary)} for one in search(question, most)]
    json.dump(found, sys.stdout)
