"""Operations on logical vectors, whose lanes have not been laid out in registers yet."""
