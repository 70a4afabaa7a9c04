// The interface of PTO tile programs in C++.
#pragma once
#include "pto/comm/pto_comm_inst.hpp"
#include "pto/common/kernel_meta.hpp"
#include "pto/common/memory.hpp"
#include "pto/common/pto_instr.hpp"
