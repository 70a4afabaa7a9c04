// c = a b + 1: the cube core multiplies, a vector core adds to what it stored.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int S = 64;
using GlobalHalf = GlobalTensor<half, Shape<1, 1, 1, S, S>, Stride<1, 1, 1, S, 1>>;
using GlobalFloat = GlobalTensor<float, Shape<1, 1, 1, S, S>, Stride<1, 1, 1, S, 1>>;

__global__ AICORE void product_plus_one(__gm__ uint64_t *area, __gm__ float *c, __gm__ half *a, __gm__ half *b) {
  set_ffts_base_addr((uint64_t)area);
  GlobalFloat gc(c);
#if defined(__DAV_CUBE__)
  Tile<TileType::Mat, half, S, S, BLayout::ColMajor, S, S, SLayout::RowMajor> la, lb;
  TileLeft<half, S, S> left;
  TileRight<half, S, S> right;
  TileAcc<float, S, S> acc;
  TASSIGN(la, 0x0);
  TASSIGN(lb, 0x2000);
  TASSIGN(left, 0x0);
  TASSIGN(right, 0x0);
  TASSIGN(acc, 0x0);
  GlobalHalf ga(a), gb(b);
  TLOAD(la, ga);
  TLOAD(lb, gb);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  TMOV(left, la);
  TMOV(right, lb);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  TMATMUL(acc, left, right);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  TSTORE(gc, acc);
  ffts_cross_core_sync(PIPE_FIX, 0x1 | (0x2 << 4) | (3 << 8));
#endif
#if defined(__DAV_VEC__)
  Tile<TileType::Vec, float, S, S> x;
  TASSIGN(x, 0x0);
  wait_flag_dev(3);
  if (get_subblockid() == 0) {
    TLOAD(x, gc);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADDS(x, x, 1.0f);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(gc, x);
  }
#endif
}
