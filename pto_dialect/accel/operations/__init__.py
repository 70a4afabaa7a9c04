"""Operations: made quickly, from classes whose definitions are made when somebody needs them."""
