"""Operations of the core dialects of MLIR, with the facts that xDSL does not provide."""
