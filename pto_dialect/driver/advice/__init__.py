"""Advice on faster runs by the cycle model: changes of the program, each tried before it is reported."""
