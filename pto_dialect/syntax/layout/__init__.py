"""How a program is laid out on lines: what ``pto-fmt`` does. Only white space changes, never a token."""
