"""Operations of the scalar unit: registers, questions about the launch, regions that say where operations run."""
