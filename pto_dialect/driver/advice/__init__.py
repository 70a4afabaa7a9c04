"""What would make a run faster by the cycle model: changes of the program, each tried before it is told."""
