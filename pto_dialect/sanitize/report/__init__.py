"""Findings: their messages, help, fixes and suppression."""
