// Checks of the program that a kernel becomes: cf.assert with a message, or with the text of the condition.
#pragma once
#define PTO_CHECKED(text, ...)                       \
    (__builtin_is_constant_evaluated() ? (void)0     \
                                       : __pto_call("assert", "check:" text, static_cast<bool>(__VA_ARGS__)))
#define PTO_FIRST(first, ...) first
#define PTO_ASSERT(condition, ...) PTO_CHECKED(PTO_FIRST(__VA_OPT__(__VA_ARGS__, ) #condition), condition)
#define DEBUG_CHECK(...) ((void)0)
