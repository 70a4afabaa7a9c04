// Device memory of a test, and how its program talks to the benchmark.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <type_traits>
#include <unistd.h>

namespace isa {

struct Memory {
    int number;
    size_t bytes;
};

inline std::map<char*, Memory> memories; // device memory by its first byte
inline std::ostringstream lines;         // launches that have not run yet
inline long blocks = 1;                  // of the next launch

inline int descriptor(const char* variable)
{
    const char* text = std::getenv(variable);
    return text ? std::atoi(text) : -1;
}

// Sends a line to the benchmark and, if `answered`, waits for a line from it.
inline void tell(const std::string& line, bool answered = false)
{
    static const int out = descriptor("ISA_SAYS"), in = descriptor("ISA_HEARS");
    const std::string text = line + "\n";
    if (write(out, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        std::_Exit(3);
    }
    for (char one = 0; answered && one != '\n';) {
        if (read(in, &one, 1) != 1) {
            std::_Exit(3);
        }
    }
}

// An argument of a launch: a place in device memory, or a number.
template <class T>
std::string told(T value)
{
    std::ostringstream out;
    if constexpr (std::is_pointer_v<T>) {
        auto found = memories.upper_bound(reinterpret_cast<char*>(value));
        if (value == nullptr || found == memories.begin()) {
            return "p,-1,0";
        }
        --found;
        out << "p," << found->second.number << ',' << reinterpret_cast<char*>(value) - found->first;
    } else if constexpr (std::is_integral_v<T>) {
        out << "n," << static_cast<int64_t>(value);
    } else {
        out.precision(17);
        out << "n," << static_cast<double>(value);
    }
    return out.str();
}

// Runs what has been launched: the benchmark reads and writes the files of the device memory.
inline void run()
{
    for (auto& [first, memory] : memories) {
        std::ofstream file("memory" + std::to_string(memory.number) + ".bin", std::ios::binary);
        file.write(first, memory.bytes);
        lines << "memory|" << memory.number << '|' << memory.bytes << '\n';
    }
    {
        std::ofstream file("record.txt");
        file << lines.str();
    }
    lines.str("");
    tell("run", true);
    for (auto& [first, memory] : memories) {
        std::ifstream file("memory" + std::to_string(memory.number) + ".bin", std::ios::binary);
        file.read(first, memory.bytes);
    }
}

} // namespace isa

// What launch functions call, and the one that stands for those that the kernels do not have.
extern "C" inline __attribute__((used)) void isa_blocks(long blocks) { isa::blocks = blocks; }
extern "C" inline __attribute__((used)) void isa_missing()
{
    isa::tell("missing");
    std::_Exit(1);
}
