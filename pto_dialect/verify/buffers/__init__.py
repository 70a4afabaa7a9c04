"""Rules of tile buffers, views of memory, and pointers."""
