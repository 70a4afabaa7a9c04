#pragma once

#include "tensors.h"
