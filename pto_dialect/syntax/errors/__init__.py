"""What is said about text that is no program, and how each mistake is told from others."""
