"""Control flow of a function: from blocks and jumps to nested loops and branches."""
