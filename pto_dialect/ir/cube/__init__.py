"""Operations of the cube core: matrix products, the transfers that feed them, the write-back of accumulators."""
