"""Which passes make a kernel fast by the cycle model: ``pto optimize``."""
