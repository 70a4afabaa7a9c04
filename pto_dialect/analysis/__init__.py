"""What several rooms ask about a program, without changing it and without running it."""
