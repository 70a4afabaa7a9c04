// out = s * in for any number of rows, 16 at a time; the last ones may be fewer.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int W = 64;
using Rows = GlobalTensor<float, Shape<1, 1, 1, -1, W>, Stride<1, 1, 1, W, 1>>;
using Vec = Tile<TileType::Vec, float, 16, W, BLayout::RowMajor, -1, W>;

__global__ AICORE void tail(__gm__ float *in, __gm__ float *out, int rows, float s) {
  for (int r = 0; r < rows; r += 16) {
    const int h = rows - r < 16 ? rows - r : 16;
    Vec x(h), y(h);
    TASSIGN(x, 0x0);
    TASSIGN(y, 0x1000);
    Rows gi(in + r * W, Shape<1, 1, 1, -1, W>(h)), go(out + r * W, Shape<1, 1, 1, -1, W>(h));
    TLOAD(x, gi);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TMULS(y, x, s);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(go, y);
    set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  }
}
