"""Operations on tiles of the vector buffer, and transfers of tiles."""
