"""Memories and how values are stored in them: layouts, views, addresses, transfers."""
