"""``python -m pto_dialect.report RUN.pto-rec [PAGE.html]``: the page of a recorded run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from pto_dialect.diagnostics.files import atomic_write
from pto_dialect.recording import RecordingError, open

from .compare import comparison
from .recorded import page_of_recording


def main(arguments: list[str]) -> int:
    """Writes the page beside the recording, or where the second argument says; 2 where that is not possible."""
    if not 1 <= len(arguments) <= 2:
        print("usage: python -m pto_dialect.report RUN.pto-rec [PAGE.html]", file=sys.stderr)
        return 2
    return write_page(*arguments)


def write_page(path: str, target: str | None = None) -> int:
    """Writes the page of the recording ``path`` to ``target``, by default beside it; 2 where that is not possible."""

    def page() -> str:
        with open(path) as recording:
            return page_of_recording(recording)

    return _write(page, path, target)


def write_comparison(before: str, after: str, target: str | None = None) -> int:
    """Writes the page of the recordings ``before`` and ``after`` to ``target``, by default beside the second one; 2
    where that is not possible."""

    def page() -> str:
        with open(before) as first, open(after) as second:
            return comparison(first, second)

    return _write(page, after, target)


def _write(page: Callable[[], str], recording: str, target: str | None) -> int:
    """Writes a page to ``target``, by default beside ``recording``."""
    target = str(Path(recording).with_suffix(".html")) if target is None else target
    try:
        atomic_write(target, page(), "page")
    except RecordingError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: cannot write '{target}': {error.strerror or error}", file=sys.stderr)
        return 2
    print(target)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
