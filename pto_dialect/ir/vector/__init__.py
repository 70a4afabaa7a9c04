"""Operations of the vector core below tiles: registers, predicates, unified buffer."""
