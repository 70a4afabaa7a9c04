"""Types and attributes from their text."""
