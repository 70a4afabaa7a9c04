"""Rules of flags, queues between cores, and communication."""
