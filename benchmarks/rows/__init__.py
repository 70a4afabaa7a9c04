"""What `run.py` measures, by subject."""
