"""Layout of a program on lines, as ``pto-fmt`` does it. Only white space changes, never a token."""
