// out = in / in[0]: the scalar unit reads an element of the tile.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int W = 64;
using Row = GlobalTensor<float, Shape<1, 1, 1, 1, W>, Stride<1, 1, 1, W, 1>>;
using Vec = Tile<TileType::Vec, float, 1, W, BLayout::RowMajor>;

__global__ AICORE void scalars(__gm__ float *in, __gm__ float *out) {
  Vec x, y;
  TASSIGN(x, 0x0);
  TASSIGN(y, 0x100);
  Row gi(in), go(out);
  TLOAD(x, gi);
  set_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_S, EVENT_ID0);
  const float first = x.GetValue(0);
  set_flag(PIPE_S, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_S, PIPE_V, EVENT_ID0);
  TDIVS(y, x, first);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(go, y);
}
