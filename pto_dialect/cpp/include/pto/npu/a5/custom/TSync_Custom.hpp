// Part of the interface.
#pragma once
#include "pto/detail/cross_core.hpp"
