"""Facts about operations beyond their operands: pipes, queues, refusals, and the record of a form."""
