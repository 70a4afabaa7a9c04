// Of the host: pto/detail/host.hpp.
#pragma once
#include "pto/detail/host.hpp"
#include "pto/pto-inst.hpp"
