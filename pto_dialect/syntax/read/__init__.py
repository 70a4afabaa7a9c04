"""Characters to a stream of reductions: lexer, grammar tables, parser, recovery from errors."""
