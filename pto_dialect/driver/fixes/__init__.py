"""Changes of a program's text that mend what diagnostics tell: worked out when somebody asks, tried before they are
offered."""
