"""A process that stays and answers calls of ``pto-opt``, each with a copy of itself: docs/pto-opt.md, "The server"."""
