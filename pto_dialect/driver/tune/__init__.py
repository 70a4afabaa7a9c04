"""Which tile sizes, buffers and loop orders are best by the cycle model: ``pto tune``."""
