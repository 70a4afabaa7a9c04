"""Launch files: what to run, its arguments, and the expected output, stored next to a program."""
