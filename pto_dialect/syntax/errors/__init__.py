"""Diagnosis of syntax errors: the message for each kind of mistake."""
