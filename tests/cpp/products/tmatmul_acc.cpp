// out = x w + u w
#include "tensors.hpp"

__global__ AICORE void tmatmul_acc(__gm__ float *out, __gm__ half *x, __gm__ half *w, __gm__ half *u) {
  using A = TileLeft<half, 16, 16>;
  using B = TileRight<half, 16, 16>;
  using C = TileAcc<float, 16, 16>;
  InL1<half, 16, 16> left, first;
  InL1<half, 16, 16> right;
  A a, d;
  B b;
  C c0, c1;
  TASSIGN(left, 0x0);
  TASSIGN(first, 0x2000);
  TASSIGN(right, 0x1000);
  TASSIGN(a, 0x1000);
  TASSIGN(d, 0x4000);
  TASSIGN(b, 0x2000);
  TASSIGN(c0, 0x3000);
  TASSIGN(c1, 0x4000);
  Matrix<half, 16, 16> gx(x), gu(u);
  Matrix<half, 16, 16> gw(w);
  Matrix<float, 16, 16> gout(out);
  TLOAD(left, gx);
  TLOAD(first, gu);
  TLOAD(right, gw);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  TMOV(a, left);
  TMOV(d, first);
  TMOV(b, right);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  TMATMUL(c0, d, b);
  TMATMUL_ACC(c1, c0, a, b);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  TSTORE(gout, c1);
}
