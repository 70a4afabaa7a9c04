// Checks that a device leaves out.
#pragma once
#define PTO_ASSERT(...) ((void)0)
#define DEBUG_CHECK(...) ((void)0)
