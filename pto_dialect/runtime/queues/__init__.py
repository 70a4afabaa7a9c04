"""Pipes as queues, and queues of tiles between cores, while a program runs."""
