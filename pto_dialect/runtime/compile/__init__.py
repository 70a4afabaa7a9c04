"""From functions of a program to Python source."""
