// Files and comparisons of the tests. A comparison says how many numbers differ at all by more than its tolerance.
#pragma once

#include <cassert>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <string>
#include <type_traits>
#include <vector>

#include "acl/acl.h"

#define PAD_VALUE_NULL (-100)
#define PAD_VALUE_MAX (1)
#define PAD_VALUE_MIN (-1)

#define INFO_LOG(...) ((void)0)
#define WARN_LOG(...) ((void)0)
#define ERROR_LOG(...) ((void)0)
#define CHECK_RESULT_GTEST(x) ASSERT_TRUE(x)

namespace PtoTestCommon {

inline bool ReadFile(const std::string& path, size_t& bytes, void* buffer, size_t room)
{
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    const size_t found = file ? static_cast<size_t>(file.tellg()) : 0;
    if (found == 0 || found > room) {
        isa::tell("file|" + path + "|" + std::to_string(found) + "|" + std::to_string(room));
        return false;
    }
    file.seekg(0);
    file.read(static_cast<char*>(buffer), found);
    bytes = found;
    return true;
}

inline bool WriteFile(const std::string& path, const void* buffer, size_t bytes)
{
    std::ofstream(path, std::ios::binary).write(static_cast<const char*>(buffer), bytes);
    return true;
}

inline void compared(size_t different, size_t allowed, size_t count, const std::string& first)
{
    isa::tell(
        "compared|" + std::to_string(different) + "|" + std::to_string(allowed) + "|" + std::to_string(count) + "|" +
        first);
}

template <typename T>
bool ResultCmp(
    const std::vector<T>& expected, const T* actual, float eps, size_t threshold = 0, size_t zeros = 1000,
    bool = false, bool = false, size_t = 0)
{
    const size_t allowed = threshold ? threshold : static_cast<size_t>(static_cast<int>(expected.size() * eps));
    size_t loose = 0, strict = 0, lost = 0;
    std::ostringstream first;
    for (size_t i = 0; i < expected.size(); ++i) {
        const float want = static_cast<float>(expected[i]), got = static_cast<float>(actual[i]);
        const float difference = std::abs(want - got), ratio = std::abs(difference / want);
        lost += std::abs(got) <= 1e-6 && std::abs(want) > 1e-6;
        const bool nan = std::isnan(want) != std::isnan(got);
        bool outside = (difference > eps && ratio > eps) || nan;
        if constexpr (sizeof(T) == 2 && !std::is_integral_v<T>) {
            // The runtime's half numbers are bits, and the tests compare these.
            uint16_t bits[2];
            std::memcpy(&bits[0], &expected[i], 2);
            std::memcpy(&bits[1], &actual[i], 2);
            const float apart = std::abs(static_cast<float>(bits[0]) - static_cast<float>(bits[1]));
            outside = outside && (nan || (apart > eps && apart / bits[0] > eps));
        }
        const bool infinite = std::isinf(want) != std::isinf(got);
        bool different = outside || infinite;
        // Words of 16 bits may be halves.
        if constexpr (std::is_integral_v<T> && sizeof(T) != 2) {
            different = eps < 1 && expected[i] != actual[i];
        }
        if (different && strict == 0) {
            first << "[" << i << "] " << got << ", expected " << want;
        }
        strict += different;
        loose += outside || lost > zeros;
    }
    compared(strict, threshold, expected.size(), first.str());
    return loose <= allowed && lost <= zeros;
}

template <typename T>
bool ResultCmp(
    const std::vector<T>& expected, const std::vector<T>& actual, float eps, size_t threshold = 0, size_t zeros = 1000,
    bool = false, bool = false, size_t = 0)
{
    return expected.size() == actual.size() && ResultCmp(expected, actual.data(), eps, threshold, zeros);
}

template <typename T>
bool ResultCmpExact(const std::vector<T>& expected, const T* actual)
{
    size_t different = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
        different += expected[i] != actual[i];
    }
    compared(different, 0, expected.size(), "");
    return different == 0;
}

template <class... Arguments>
void PrintData(Arguments&&...)
{
}

} // namespace PtoTestCommon
