// Part of the interface.
#pragma once
#include "pto/common/pto_tile.hpp"
