"""Operations on buffers: tile buffers, views of memory, pointers. They make handles; views and handles move no data."""
