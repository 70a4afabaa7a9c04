"""From characters to reductions: lexer, grammar tables, parser, error recovery."""
