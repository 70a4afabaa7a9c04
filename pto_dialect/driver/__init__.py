"""What the command ``pto-opt`` does, as a library: read inputs, run the pipeline on each, report.

``tools/pto_opt.py`` turns a command line into ``Options`` and inputs, and the results into streams and an
exit code.
"""
