"""What the package knows, told to people: operations, words and rules by name, found by plain words, in a terminal or as
pages."""
