"""Rules of logical vectors."""
