"""What all families stand on: types, attributes, the base class of operations, and where each operation is found."""
