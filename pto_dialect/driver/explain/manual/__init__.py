"""What the page of an operation says in sentences, from the tables beside this module."""
