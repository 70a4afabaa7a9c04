// y = softmax of each row of x.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int R = 16, C = 64;
using Global = GlobalTensor<float, Shape<1, 1, 1, R, C>, Stride<R * C, R * C, R * C, C, 1>>;
using Matrix = Tile<TileType::Vec, float, R, C, BLayout::RowMajor>;
using Column = Tile<TileType::Vec, float, R, 1, BLayout::ColMajor>;

AICORE inline void exponentials(Matrix &x, Matrix &tmp, Column &most) {
  TROWMAX(most, x, tmp);
  pipe_barrier(PIPE_V);
  TROWEXPANDSUB(x, x, most);
  pipe_barrier(PIPE_V);
  TEXP(x, x);
}

__global__ AICORE void softmax(__gm__ float *in, __gm__ float *out) {
  Matrix x, tmp;
  Column most, sums;
  TASSIGN(x, 0x0);
  TASSIGN(tmp, 0x1000);
  TASSIGN(most, 0x2000);
  TASSIGN(sums, 0x2100);
  Global gi(in), go(out);
  TLOAD(x, gi);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  exponentials(x, tmp, most);
  pipe_barrier(PIPE_V);
  TROWSUM(sums, x, tmp);
  pipe_barrier(PIPE_V);
  TROWEXPANDDIV(x, x, sums);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(go, x);
}
