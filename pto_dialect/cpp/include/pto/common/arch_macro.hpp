// The target is known before the kernel is read.
#pragma once
