// Each block converts its own rows to half and adds a bias that all share.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int W = 128, ROWS = 4;
using In = GlobalTensor<float, Shape<1, 1, 1, ROWS, W>, Stride<1, 1, 1, W, 1>>;
using Out = GlobalTensor<half, Shape<1, 1, 1, ROWS, W>, Stride<1, 1, 1, W, 1>>;
using Bias = GlobalTensor<float, Shape<1, 1, 1, 1, W>, Stride<1, 1, 1, W, 1>>;
using Wide = Tile<TileType::Vec, float, ROWS, W, BLayout::RowMajor>;
using Narrow = Tile<TileType::Vec, half, ROWS, W, BLayout::RowMajor>;
using Line = Tile<TileType::Vec, float, 1, W, BLayout::RowMajor>;

__global__ AICORE void blocks(__gm__ float *in, __gm__ float *bias, __gm__ half *out) {
  const int first = get_block_idx() * ROWS;
  Wide x;
  Narrow y;
  Line line;
  TASSIGN(x, 0x0);
  TASSIGN(line, 0x1000);
  TASSIGN(y, 0x2000);
  In gi(in + first * W);
  Bias gb(bias);
  Out go(out + first * W);
  TLOAD(x, gi);
  TLOAD(line, gb);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TCOLEXPANDADD(x, x, line);
  pipe_barrier(PIPE_V);
  TCVT(y, x, RoundMode::CAST_RINT);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(go, y);
}
