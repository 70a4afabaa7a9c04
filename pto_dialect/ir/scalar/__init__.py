"""Operations of the scalar unit: registers, queries of the launch, regions that select a core."""
