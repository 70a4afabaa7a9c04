#pragma once
#include <pto/pto-inst.hpp>
using namespace pto;

// A matrix in global memory, and a tile of the L1 memory that takes it.
template <typename T, int R, int C>
using Matrix = GlobalTensor<T, Shape<1, 1, 1, R, C>, Stride<R * C, R * C, R * C, C, 1>>;
template <typename T, int R, int C>
using InL1 = Tile<TileType::Mat, T, R, C, BLayout::ColMajor, R, C, SLayout::RowMajor>;
template <typename T, int C>
using LineInL1 = Tile<TileType::Mat, T, 1, C, BLayout::RowMajor, 1, C>;
