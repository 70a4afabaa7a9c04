// c = a b in steps of 64 along K, on the cube core.
#include <pto/pto-inst.hpp>
using namespace pto;

constexpr int M = 64, N = 64, K = 64, STEPS = 3;
using GlobalA = GlobalTensor<half, Shape<1, 1, 1, M, K>, Stride<1, 1, 1, K * STEPS, 1>>;
using GlobalB = GlobalTensor<half, Shape<1, 1, 1, K, N>, Stride<1, 1, 1, N, 1>>;
using GlobalC = GlobalTensor<float, Shape<1, 1, 1, M, N>, Stride<1, 1, 1, N, 1>>;
using L1 = Tile<TileType::Mat, half, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor>;

__global__ AICORE void gemm(__gm__ float *c, __gm__ half *a, __gm__ half *b) {
  L1 la, lb;
  TileLeft<half, M, K> left;
  TileRight<half, K, N> right;
  TileAcc<float, M, N> acc;
  TASSIGN(la, 0x0);
  TASSIGN(lb, 0x2000);
  TASSIGN(left, 0x0);
  TASSIGN(right, 0x0);
  TASSIGN(acc, 0x0);
  set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
  set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  for (int k = 0; k < STEPS; ++k) {
    GlobalA ga(a + k * K);
    GlobalB gb(b + k * K * N);
    wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
    TLOAD(la, ga);
    TLOAD(lb, gb);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
    TMOV(left, la);
    TMOV(right, lb);
    set_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    if (k == 0)
      TMATMUL(acc, left, right);
    else
      TMATMUL_ACC(acc, acc, left, right);
    set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  }
  wait_flag(PIPE_MTE1, PIPE_MTE2, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  GlobalC gc(c);
  TSTORE(gc, acc);
}
