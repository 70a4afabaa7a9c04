"""What each operation computes: one module per family of operations."""
