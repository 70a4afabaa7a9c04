"""Examples of rules: programs and command lines that break them, and similar ones that satisfy them."""
