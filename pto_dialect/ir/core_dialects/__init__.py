"""Operations of the core dialects of MLIR, as far as xDSL does not tell what is asked about them."""
