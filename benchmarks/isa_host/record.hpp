// Records the tile instructions of a kernel instead of executing them; a launch sends the record to the benchmark.
#pragma once

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <unistd.h>

#include "pto/common/pto_tile.hpp"
#include "pto/common/event.hpp"

namespace isa {

struct Memory {
    int number;
    size_t bytes;
};

inline std::map<char*, Memory> memories; // device memory by its first byte
inline std::ostringstream lines;

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

// ------------------------------------------------------------ descriptions of operands

// The name of a type, cut out of the name of a function: half numbers have no type information.
template <class T>
std::string written()
{
    const std::string text = __PRETTY_FUNCTION__;
    const size_t first = text.find("T = ") + 4;
    return text.substr(first, text.find_first_of(";]", first) - first);
}

template <class T>
std::string element()
{
    return written<std::remove_cv_t<T>>();
}

inline std::string place(const void* pointer)
{
    auto found = memories.upper_bound(static_cast<char*>(const_cast<void*>(pointer)));
    if (found == memories.begin()) {
        return "-1,0";
    }
    --found;
    return std::to_string(found->second.number) + "," +
           std::to_string(static_cast<const char*>(pointer) - found->first);
}

template <class T>
constexpr bool is_number = std::is_arithmetic_v<T> || std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>;

template <class T>
std::string described(T& value)
{
    using Plain = std::remove_cv_t<T>;
    std::ostringstream out;
    if constexpr (pto::is_tile_data_v<Plain>) {
        out << "tile," << element<typename Plain::DType>() << ',' << static_cast<int>(Plain::Loc) << ',' << Plain::Rows
            << ',' << Plain::Cols << ',' << static_cast<int>(Plain::BFractal) << ','
            << static_cast<int>(Plain::SFractal) << ',' << Plain::SFractalSize << ',' << value.GetValidRow() << ','
            << value.GetValidCol() << ',' << static_cast<uint64_t>(Plain::PadVal) << ','
            << static_cast<int>(Plain::Compact) << ',' << (uint64_t)(value.data()) << ',' << (Plain::ValidRow < 0)
            << ',' << (Plain::ValidCol < 0);
    } else if constexpr (pto::is_global_data_v<Plain>) {
        out << "view," << element<typename Plain::RawDType>() << ',' << static_cast<int>(Plain::layout) << ','
            << place(value.data());
        for (int dim = 0; dim < 5; ++dim) {
            out << ',' << value.GetShape(dim);
        }
        for (int dim = 0; dim < 5; ++dim) {
            out << ',' << value.GetStride(dim);
        }
    } else if constexpr (std::is_enum_v<Plain>) {
        out << "enum," << element<Plain>() << ',' << static_cast<uint64_t>(value);
    } else if constexpr (is_number<Plain>) {
        if constexpr (std::is_integral_v<Plain>) {
            out << "number," << element<Plain>() << ',' << static_cast<int64_t>(value);
        } else {
            out.precision(17);
            out << "number," << element<Plain>() << ',' << static_cast<double>(value);
        }
    } else if constexpr (std::is_array_v<Plain>) {
        out << "array," << element<std::remove_extent_t<Plain>>();
        for (auto& one : value) {
            out << ',' << static_cast<uint64_t>(one);
        }
    } else if constexpr (std::is_pointer_v<Plain> && pto::is_tile_data_v<std::remove_cv_t<std::remove_pointer_t<Plain>>>) {
        return value ? described(*value) : "other,nullptr";
    } else if constexpr (std::is_pointer_v<Plain>) {
        out << "pointer," << element<std::remove_pointer_t<Plain>>() << ',' << place(value);
    } else {
        out << "other," << element<Plain>();
    }
    return out.str();
}

// ------------------------------------------------------------ instructions

template <class T>
constexpr bool is_order = std::is_base_of_v<pto::EventBaseTag, std::decay_t<T>> ||
                          std::is_same_v<std::decay_t<T>, pto::RecordEvent>;

template <auto... Values, class... Arguments>
pto::RecordEvent record(const char* name, Arguments&... arguments)
{
    lines << "op|" << name << '|' << control << '|';
    (
        [&] {
            auto value = Values;
            lines << described(value) << ';';
        }(),
        ...);
    (
        [&] {
            if constexpr (!is_order<Arguments>) {
                lines << '|' << described(arguments);
            }
        }(),
        ...);
    lines << '\n';
    return {};
}

// ------------------------------------------------------------ launches

// Runs what has been recorded: the benchmark reads and writes the files of the device memory.
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

template <class... Arguments>
struct Call {
    int64_t blocks;
    std::tuple<Arguments...> arguments;
};

// `kernel <<<blocks, memory, stream>>> (arguments)` is compiled as `kernel ->* Grid(blocks, memory, stream)(arguments)`.
struct Grid {
    int64_t blocks;
    template <class... Rest>
    explicit Grid(int64_t count, Rest&&...) : blocks(count)
    {
    }
    template <class... Arguments>
    Call<std::decay_t<Arguments>...> operator()(Arguments&&... arguments) const
    {
        return {blocks, {arguments...}};
    }
};

template <class Result, class... Parameters, class... Arguments>
void operator->*(Result (*kernel)(Parameters...), Call<Arguments...> call)
{
    blocks = call.blocks;
    for (block = 0; block < blocks; ++block) {
        lines << "block|" << block << '\n';
        std::apply([&](auto... values) { kernel(static_cast<Parameters>(values)...); }, call.arguments);
    }
    block = 0;
    run();
}

} // namespace isa

using isa::operator->*;

namespace pto {

struct MrgSortExecutedNumList {
    uint16_t mrgSortList0;
    uint16_t mrgSortList1;
    uint16_t mrgSortList2;
    uint16_t mrgSortList3;
};

template <Op From, Op To>
struct Event : EventBaseTag {
    Event() = default;
    Event(RecordEvent) {}
    Event& operator=(RecordEvent) { return *this; }
    template <class... Rest>
    Event& Wait(Rest&&...)
    {
        return *this;
    }
};

// An address is what a tile is recorded with; views of other tiles are tiles at their addresses.
template <typename T, typename AddrType>
void TASSIGN_IMPL(T& object, AddrType address)
{
    if constexpr (is_global_data_v<T>) {
        object.data_ = address;
    } else {
        object.assignData((typename T::TileDType)(uint64_t)(address));
    }
}
template <typename T, typename AddrType>
void TASSIGN(T& object, AddrType address)
{
    TASSIGN_IMPL(object, address);
}
template <size_t Address, typename T>
void TASSIGN(T& object)
{
    TASSIGN_IMPL(object, Address);
}
template <typename T, typename From, class... Rest>
RecordEvent TRESHAPE(T& object, From& from, Rest&&...)
{
    TASSIGN_IMPL(object, (uint64_t)(from.data()));
    return {};
}
template <typename T, typename From, class... Rest>
RecordEvent TSUBVIEW(T& object, From& from, int row, int col, Rest&&...)
{
    const size_t offset = GetTileOffset<From>(row, col) * sizeof(typename From::DType);
    TASSIGN_IMPL(object, (uint64_t)(from.data()) + offset);
    return {};
}
// Instructions below tiles: a record that has one has no program.
#define ISA_RAW(NAME)                              \
    template <class... Arguments>                  \
    void NAME(Arguments&&...)                      \
    {                                              \
        isa::lines << "op|" #NAME "|0|\n";         \
    }
ISA_RAW(copy_cbuf_to_gm)
ISA_RAW(copy_cbuf_to_ubuf)
ISA_RAW(copy_gm_to_cbuf_align_v2)
ISA_RAW(copy_gm_to_ubuf)
ISA_RAW(copy_matrix_cc_to_gm)
ISA_RAW(copy_ubuf_to_cbuf)
ISA_RAW(copy_ubuf_to_gm)
ISA_RAW(copy_ubuf_to_gm_align_b8)
ISA_RAW(copy_ubuf_to_gm_align_b16)
ISA_RAW(copy_ubuf_to_gm_align_b32)
ISA_RAW(copy_ubuf_to_gm_align_v2)
ISA_RAW(create_cbuf_matrix)
ISA_RAW(vector_dup)
ISA_RAW(set_loop_size_ubtoout)
ISA_RAW(set_loop1_stride_ubtoout)
ISA_RAW(set_loop2_stride_ubtoout)
#undef ISA_RAW

// The scales of a tile lie at a sixteenth of its address, in a memory of their own.
template <class Data>
uint64_t GetScaleAddr(Data data)
{
    return (uint64_t)(data) >> 4;
}
template <typename T, typename From, class... Rest>
RecordEvent TGET_SCALE_ADDR(T& object, From& from, Rest&&...)
{
    TASSIGN_IMPL(object, GetScaleAddr(from.data()));
    return {};
}

template <Op Code>
void TSYNC()
{
}
template <class... Events>
void TSYNC(Events&...)
{
}

// The values among the template arguments matter; types may stand before them and behind the first one.
#define ISA_INSTRUCTION(NAME)                                                                                    \
    template <auto... V, class... A>                                                                             \
    RecordEvent NAME(A&&... a)                                                                                   \
    {                                                                                                            \
        return isa::record<V...>(#NAME, a...);                                                                   \
    }                                                                                                            \
    template <class T0, auto... V, class... A>                                                                   \
    RecordEvent NAME(A&&... a)                                                                                   \
    {                                                                                                            \
        return isa::record<V...>(#NAME, a...);                                                                   \
    }                                                                                                            \
    template <class T0, class T1, auto... V, class... A>                                                         \
    RecordEvent NAME(A&&... a)                                                                                   \
    {                                                                                                            \
        return isa::record<V...>(#NAME, a...);                                                                   \
    }                                                                                                            \
    template <class T0, class T1, class T2, auto... V, class... A>                                               \
    RecordEvent NAME(A&&... a)                                                                                   \
    {                                                                                                            \
        return isa::record<V...>(#NAME, a...);                                                                   \
    }                                                                                                            \
    template <class T0, class T1, class T2, class T3, auto... V, class... A>                                     \
    RecordEvent NAME(A&&... a)                                                                                   \
    {                                                                                                            \
        return isa::record<V...>(#NAME, a...);                                                                   \
    }                                                                                                            \
    template <class T0, class T1, class T2, class T3, class T4, auto... V, class... A>                           \
    RecordEvent NAME(A&&... a)                                                                                   \
    {                                                                                                            \
        return isa::record<V...>(#NAME, a...);                                                                   \
    }                                                                                                            \
    template <class T0, class T1, class T2, class T3, class T4, class T5, auto... V, class... A>                 \
    RecordEvent NAME(A&&... a)                                                                                   \
    {                                                                                                            \
        return isa::record<V...>(#NAME, a...);                                                                   \
    }  \
    template <auto V0, class T0, auto... V, class... A>                                                         \
    RecordEvent NAME(A&&... a)                                                                                   \
    {                                                                                                            \
        return isa::record<V0, V...>(#NAME, a...);                                                                   \
    }                                                                                                            \
    template <auto V0, class T0, class T1, auto... V, class... A>                                                         \
    RecordEvent NAME(A&&... a)                                                                                   \
    {                                                                                                            \
        return isa::record<V0, V...>(#NAME, a...);                                                                   \
    }                                                                                                            \
    template <auto V0, class T0, class T1, class T2, auto... V, class... A>                                                         \
    RecordEvent NAME(A&&... a)                                                                                   \
    {                                                                                                            \
        return isa::record<V0, V...>(#NAME, a...);                                                                   \
    }                                                                                                            \
    template <auto V0, class T0, class T1, class T2, class T3, auto... V, class... A>                                                         \
    RecordEvent NAME(A&&... a)                                                                                   \
    {                                                                                                            \
        return isa::record<V0, V...>(#NAME, a...);                                                                   \
    }                                                                                                            \
    template <auto V0, class T0, class T1, class T2, class T3, class T4, auto... V, class... A>                                                         \
    RecordEvent NAME(A&&... a)                                                                                   \
    {                                                                                                            \
        return isa::record<V0, V...>(#NAME, a...);                                                                   \
    }
#include "instructions.hpp"
#undef ISA_INSTRUCTION

} // namespace pto
