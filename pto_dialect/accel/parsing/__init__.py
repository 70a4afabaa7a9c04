"""Reading texts: parse tables on disk, statements and types that are like earlier ones."""
