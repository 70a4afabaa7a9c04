"""Text to IR and back: lexer, grammar driver, builder and printer."""
