"""What a watch keeps: memories with marks on their bytes, and clocks of the pipes."""
