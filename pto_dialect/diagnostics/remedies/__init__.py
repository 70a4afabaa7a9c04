"""Remedies: how a diagnostic is fixed, as data, and the edits that follow from it.

A function that is declared with :func:`~.site.remedy` is called twice. Where a mistake is reported, it makes the
:class:`~pto_dialect.diagnostics.remedy.Remedy` with its arguments. When fixes are requested, its body makes them from
those arguments and the text around the diagnostic.
"""
