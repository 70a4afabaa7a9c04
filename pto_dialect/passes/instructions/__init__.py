"""What passes share that put instructions in the place of tile operations."""
