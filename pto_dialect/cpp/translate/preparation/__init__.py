"""Changes of the IR before its analysis."""
