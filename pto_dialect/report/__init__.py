"""A run as one HTML page that needs nothing else: what ran, when, on which bytes.

Source: docs/report.md, "What is in the page".
"""

from .kernel import ReportKernel
from .locations import Buffer
from .model import Document, Run
from .page import html

__all__ = ["Buffer", "Document", "ReportKernel", "Run", "html", "page_of"]


def page_of(kernel: ReportKernel, run: Run) -> str:
    """Returns the page of what ``kernel`` has run so far."""
    document = Document(kernel, run)
    content = document.build()
    return html(content, document.chunks)
