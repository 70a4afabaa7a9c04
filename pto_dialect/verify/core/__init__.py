"""Rules of the core dialects."""
