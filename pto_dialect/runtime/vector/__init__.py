"""Vector registers and predicates as numpy arrays: 256 bytes of one element type, and 256 bits."""
