"""What the command ``pto-run`` does, as a library: bind arguments, run a program, report and store the
result.

``tools/pto_run.py`` turns a command line into a ``Request``; ``program.run_program`` carries it out.
"""
