"""The watched machine: what each core, memory and signal knows while a program runs."""
