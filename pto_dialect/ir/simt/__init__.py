"""Operations of SIMT work-items."""
