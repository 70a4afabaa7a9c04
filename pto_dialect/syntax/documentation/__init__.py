"""Conversion of statements as documentation writes them to the grammar's form."""
