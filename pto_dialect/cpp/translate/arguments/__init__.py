"""What a run time hands to a kernel in one array, as parameters."""
