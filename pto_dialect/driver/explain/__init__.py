"""Operations, words and rules told to people: by name or by plain words, as text or as pages."""
