"""The rules a program must satisfy, one module per rule group, and the passes that apply them."""
