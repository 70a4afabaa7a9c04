"""Tables of what a chip accepts: profiles, limits and mode lists. Pure data, importable without numpy."""
