"""Rules of a program as a whole: its file, its modules and functions, its target, its run."""
