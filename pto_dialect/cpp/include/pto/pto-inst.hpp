// The interface of PTO tile programs in C++.
#pragma once
#include "pto/common/pto_instr.hpp"
