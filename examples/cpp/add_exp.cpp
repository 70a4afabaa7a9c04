#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int W = 256;

__global__ AICORE void add_exp(__gm__ float *x, __gm__ float *y, __gm__ float *z, int n) {
  using Row = GlobalTensor<float, Shape<1, 1, 1, 1, W>, Stride<W, W, W, W, 1>>;
  using Vec = Tile<TileType::Vec, float, 1, W, BLayout::RowMajor>;
  Vec a, b, c;
  TASSIGN(a, 0);
  TASSIGN(b, 0x1000);
  TASSIGN(c, 0x2000);
  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  for (int i = 0; i < n; ++i) {
    Row gx(x + i * W), gy(y + i * W), gz(z + i * W);
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    TLOAD(a, gx);
    TLOAD(b, gy);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    TADD(c, a, b);
    pipe_barrier(PIPE_V);
    TEXP(c, c);
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(gz, c);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  }
  wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
}
