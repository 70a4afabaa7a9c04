// What compilers keep in a compiled form: all that most kernels read of these headers.
#pragma once
#include "pto_device.hpp"
#include "pto/pto-inst.hpp"
