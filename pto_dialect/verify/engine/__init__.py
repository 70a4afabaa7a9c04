"""How rules are declared, applied and reported; no rule of a family."""
