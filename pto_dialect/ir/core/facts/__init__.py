"""What is true of operations beyond their operands: pipes, queues, refusals, and the record of a form."""
