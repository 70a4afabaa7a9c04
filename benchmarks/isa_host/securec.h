// Functions of the C library that know how much room there is.
#pragma once

#include <cstring>

inline int memset_s(void* to, size_t room, int value, size_t bytes)
{
    std::memset(to, value, bytes < room ? bytes : room);
    return 0;
}
inline int memcpy_s(void* to, size_t room, const void* from, size_t bytes)
{
    std::memcpy(to, from, bytes < room ? bytes : room);
    return 0;
}
