// assert: a check of the program that a kernel becomes.
#include "pto/common/debug.h"
#undef assert
#ifdef NDEBUG
#define assert(...) ((void)0)
#else
#define assert(...) PTO_CHECKED(#__VA_ARGS__, __VA_ARGS__)
#endif
