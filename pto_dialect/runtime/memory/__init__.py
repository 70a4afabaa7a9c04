"""Memories, what lies in them, and how: layouts, views, addresses, transfers."""
