"""Examples of rules: programs and command lines that break them, and the nearest that keep them."""
