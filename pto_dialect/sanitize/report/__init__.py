"""Findings: what they say, what they advise, and what is done about them."""
