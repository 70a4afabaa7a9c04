"""Remedies: what a diagnostic says about its mending, and the changes of the text that follow from it.

A function that is declared with :func:`~.site.remedy` is called twice. Where a mistake is reported, it makes the
:class:`~pto_dialect.diagnostics.remedy.Remedy` with its arguments. Where somebody asks for fixes, its body makes them
from those arguments and the text around the diagnostic.
"""
