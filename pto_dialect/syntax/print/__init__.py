"""Operations to text."""
