"""Which bytes transfers of pointers touch."""
