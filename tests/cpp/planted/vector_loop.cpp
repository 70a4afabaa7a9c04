// y = exp(x + y), a row in each round.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int W = 256;
using Row = GlobalTensor<float, Shape<1, 1, 1, 1, W>, Stride<W, W, W, W, 1>>;
using Vec = Tile<TileType::Vec, float, 1, W, BLayout::RowMajor>;

__global__ AICORE void vector_loop(__gm__ float *x, __gm__ float *y, __gm__ float *z, int n) {
  Vec a, b, c;
  TASSIGN(a, 0x0);
  TASSIGN(b, 0x400);
  TASSIGN(c, 0x800);
  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
  for (int i = 0; i < n; ++i) {
    Row gx(x + i * W), gy(y + i * W), gz(z + i * W);
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    TLOAD(a, gx);
    TLOAD(b, gy);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID2);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
    TADD(c, a, b);
    pipe_barrier(PIPE_V);
    TEXP(c, c);
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID3);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID3);
    TSTORE(gz, c);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
  }
  wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
}
