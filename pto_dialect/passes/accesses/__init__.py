"""Which memory the operations of a function touch, on which pipes, and what the pipes know of one another."""
