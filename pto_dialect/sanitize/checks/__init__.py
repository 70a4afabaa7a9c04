"""What is looked for: one kind of fault in each file."""
