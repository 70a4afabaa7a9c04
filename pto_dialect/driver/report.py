"""Writes the diagnostics of a run in the requested format."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import Counts
from pto_dialect.diagnostics.wording import count
from pto_dialect.version import __version__
from pto_dialect.versions import NEWEST_RELEASE

if TYPE_CHECKING:
    from .verdicts import Verdicts

TEXT = "text"
JSON = "json"
SARIF = "sarif"
GITHUB = "github"
GITLAB = "gitlab"
JUNIT = "junit"


class Reporter:
    """Writes text input by input; the other formats are one document at the end.

    ``write`` receives finished text, ``color`` enables ANSI codes in it. ``verdicts`` caches the texts of rules;
    ``tool`` is the command that the documents name, ``release`` the release of the reference for programs that state
    none.
    """

    def __init__(
        self,
        format: str,
        color: bool,
        write: Callable[[str], None],
        verdicts: Verdicts | None = None,
        tool: str = "pto-opt",
        release: str | None = None,
    ) -> None:
        self.format = format
        self.color = color
        self.write = write
        self.verdicts = verdicts
        self.tool = tool
        self.release = release or NEWEST_RELEASE
        self.counts = Counts()
        self.collected: list[Diagnostic] = []

    def add(self, diagnostics: tuple[Diagnostic, ...], counts: Counts, text: str | None = None) -> None:
        """Takes what one input gave; ``text`` is the rendered form if another process made it already."""
        self.counts = self.counts.merge(counts)
        if self.format != TEXT:
            self.collected += diagnostics
        elif text is not None:
            self.write(text)
        elif diagnostics:
            self.write(render(diagnostics, self.color))

    def finish(self, closing: str) -> None:
        """Ends the report; ``closing`` is the last line of the text form (empty for none)."""
        if self.format == TEXT:
            if closing:
                self.write(closing + "\n")
        elif self.format == JSON:
            from pto_dialect.diagnostics.formats import to_json  # deferred: start-up

            self.write(to_json(self.collected, self.counts, {"reference_release": self.release}))
        elif self.format in (GITHUB, GITLAB, JUNIT):
            from pto_dialect.diagnostics import formats_ci  # deferred: start-up

            if self.format == JUNIT:
                self.write(formats_ci.to_junit(self.collected, self.tool))
            else:
                write = formats_ci.to_github if self.format == GITHUB else formats_ci.to_gitlab
                self.write(write(self.collected))
        else:
            from pto_dialect.diagnostics.formats import to_sarif  # deferred: start-up

            texts = rule_texts() if self.verdicts is None else self.verdicts.rule_texts(rule_texts)
            self.write(
                to_sarif(
                    self.collected,
                    texts,
                    version=__version__,
                    tool=self.tool,
                    facts={"reference_release": self.release},
                )
            )


def rule_texts() -> dict[str, str]:
    """Returns the descriptions of all rules, by id."""
    from pto_dialect.verify.engine.rule import RULES, load_all_rules  # deferred: start-up

    load_all_rules()
    return {id: declared.text for id, declared in RULES.items()}


def render(diagnostics: tuple[Diagnostic, ...], color: bool) -> str:
    """Returns the text form; the renderer is only imported when there is something to say."""
    from pto_dialect.diagnostics.render import render_text  # deferred: start-up

    return render_text(diagnostics, color=color)


def summary_of_input(counts: Counts) -> str:
    """Returns the last line for one input, e.g. ``2 errors, 1 warning``; empty without diagnostics."""
    if not any(counts):
        return ""
    from pto_dialect.diagnostics.render import summary  # deferred: start-up

    return summary(counts)


def summary_of_inputs(files: int, failed: int, counts: Counts) -> str:
    """Returns the last line for many, e.g. ``12 files: 10 ok, 2 failed (5 errors, 1 warning)``."""
    found = [count(counts.errors, "error"), count(counts.warnings, "warning")]
    if counts.infos:
        found.append(count(counts.infos, "info"))
    hidden = f"; {count(counts.hidden_errors, 'error')} not shown" if counts.hidden_errors else ""
    return f"{count(files, 'file')}: {files - failed} ok, {failed} failed ({', '.join(found)}{hidden})"
