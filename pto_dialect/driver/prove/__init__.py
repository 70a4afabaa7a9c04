"""Whether passes keep what a program computes, found out by running it before and after."""
