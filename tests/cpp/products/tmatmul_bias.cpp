// out = x w + y
#include "tensors.hpp"

__global__ AICORE void tmatmul_bias(__gm__ float *out, __gm__ half *x, __gm__ half *w, __gm__ float *y) {
  using A = TileLeft<half, 16, 16>;
  using B = TileRight<half, 16, 16>;
  using Bias = Tile<TileType::Bias, float, 1, 16>;
  using C = TileAcc<float, 16, 16>;
  InL1<half, 16, 16> left;
  InL1<half, 16, 16> right;
  LineInL1<float, 16> line;
  A a;
  B b;
  Bias bias;
  C c;
  TASSIGN(left, 0x0);
  TASSIGN(right, 0x1000);
  TASSIGN(line, 0x2000);
  TASSIGN(a, 0x1000);
  TASSIGN(b, 0x2000);
  TASSIGN(bias, 0x0);
  TASSIGN(c, 0x4000);
  Matrix<half, 16, 16> gx(x);
  Matrix<half, 16, 16> gw(w);
  Matrix<float, 1, 16> gy(y);
  Matrix<float, 16, 16> gout(out);
  TLOAD(left, gx);
  TLOAD(right, gw);
  TLOAD(line, gy);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  TMOV(a, left);
  TMOV(b, right);
  TMOV(bias, line);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  TMATMUL_BIAS(c, a, b, bias);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  TSTORE(gout, c);
}
