// out = 2 * in, with two buffers: the next load runs while a buffer is computed and stored.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int W = 128;
using Row = GlobalTensor<float, Shape<1, 1, 1, 1, W>, Stride<W, W, W, W, 1>>;
using Vec = Tile<TileType::Vec, float, 1, W, BLayout::RowMajor>;

__global__ AICORE void double_buffer(__gm__ float *in, __gm__ float *out, int n) {
  Vec source, result;
  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  set_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
  for (int i = 0; i < n; ++i) {
    const event_t id = static_cast<event_t>(i & 1);
    TASSIGN(source, (i & 1) * 0x200);
    TASSIGN(result, 0x1000 + (i & 1) * 0x200);
    Row gi(in + i * W), go(out + i * W);
    wait_flag(PIPE_V, PIPE_MTE2, id);
    TLOAD(source, gi);
    set_flag(PIPE_MTE2, PIPE_V, id);
    wait_flag(PIPE_MTE2, PIPE_V, id);
    wait_flag(PIPE_MTE3, PIPE_V, id);
    TADD(result, source, source);
    set_flag(PIPE_V, PIPE_MTE2, id);
    set_flag(PIPE_V, PIPE_MTE3, id);
    wait_flag(PIPE_V, PIPE_MTE3, id);
    TSTORE(go, result);
    set_flag(PIPE_MTE3, PIPE_V, id);
  }
  wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID1);
}
