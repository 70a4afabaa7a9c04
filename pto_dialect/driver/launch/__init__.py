"""Launch files: what to run, on what, and what should come out, kept beside a program."""
