"""Rules about the input files of a program and about the expectations in its comments."""

from __future__ import annotations

READ = "read"
EXPECT = "verify-diagnostics"
