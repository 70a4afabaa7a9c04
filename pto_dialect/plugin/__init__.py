"""What xDSL's own tools find of this package: dialect, passes, output target, reader of ``.pto`` files.

``universe`` is the entry point; nothing else of the package imports this one.
"""
