// Five sizes or strides, each known to the type or given (-1 in the type) when an object is made.
#pragma once
#include "pto/common/constants.hpp"

namespace pto {

constexpr int DYNAMIC = -1;

namespace pto_detail {

template <class... PtoT>
concept Sizes = (std::is_convertible_v<PtoT, int64_t> && ...);

struct Five {
    int64_t at[5];
};

template <auto... Known>
inline constexpr int unknown = (0 + ... + (Known == DYNAMIC));

// Written out: a loop would keep the sizes in memory.
template <int64_t PtoN1, int64_t PtoN2, int64_t PtoN3, int64_t PtoN4, int64_t PtoN5, int Count>
PTO_INTERNAL constexpr void fill(int64_t (&into)[5], const int64_t (&given)[Count])
{
    constexpr bool all = Count == 5;
    int next = 0;
    if constexpr (PtoN1 == DYNAMIC)
        into[0] = given[all ? 0 : next++];
    if constexpr (PtoN2 == DYNAMIC)
        into[1] = given[all ? 1 : next++];
    if constexpr (PtoN3 == DYNAMIC)
        into[2] = given[all ? 2 : next++];
    if constexpr (PtoN4 == DYNAMIC)
        into[3] = given[all ? 3 : next++];
    if constexpr (PtoN5 == DYNAMIC)
        into[4] = given[all ? 4 : next++];
}

constexpr int64_t product(int64_t a, int64_t b) { return a == DYNAMIC || b == DYNAMIC ? DYNAMIC : a * b; }
constexpr int64_t quotient(int64_t a, int64_t b) { return a == DYNAMIC ? DYNAMIC : a / b; }

// The five sizes of a matrix of rows x cols in a layout; c0 elements make a block of 32 bytes.
constexpr Five shape_of(Layout layout, int64_t rows, int64_t cols, int64_t c0)
{
    switch (layout) {
        case Layout::NZ: return {1, quotient(cols, c0), quotient(rows, 16), 16, c0};
        case Layout::MX_A_ZZ: return {1, quotient(rows, 16), quotient(cols, 2), 16, 2};
        case Layout::MX_A_ND: return {1, 1, rows, quotient(cols, 2), 2};
        case Layout::MX_A_DN: return {1, 1, quotient(cols, 2), rows, 2};
        case Layout::MX_B_NN: return {1, quotient(cols, 16), quotient(rows, 2), 16, 2};
        case Layout::MX_B_ND: return {1, 1, quotient(rows, 2), cols, 2};
        case Layout::MX_B_DN: return {1, 1, cols, quotient(rows, 2), 2};
        case Layout::HIF4_A_ZZ: return {1, quotient(rows, 16), cols, 16, 4};
        case Layout::HIF4_B_NN: return {1, quotient(cols, 16), rows, 16, 4};
        default: return {1, 1, 1, rows, cols};
    }
}

constexpr Five strides_of(Layout layout, int64_t rows, int64_t cols, int64_t c0)
{
    const int64_t all = product(rows, cols);
    switch (layout) {
        case Layout::NZ: return {all, product(rows, c0), 16 * c0, c0, 1};
        case Layout::DN: return {all, all, all, 1, rows};
        case Layout::MX_A_ZZ: return {all, product(cols, 16), 32, 2, 1};
        case Layout::MX_A_ND: return {all, all, cols, 2, 1};
        case Layout::MX_A_DN: return {all, all, product(rows, 2), 2, 1};
        case Layout::MX_B_NN: return {all, product(rows, 16), 32, 2, 1};
        case Layout::MX_B_ND: return {all, all, product(cols, 2), 2, 1};
        case Layout::MX_B_DN: return {all, all, rows, 2, 1};
        case Layout::HIF4_A_ZZ: return {all, product(cols, 16), 64, 4, 1};
        case Layout::HIF4_B_NN: return {all, product(rows, 16), 64, 4, 1};
        default: return {all, all, all, cols, 1};
    }
}

template <class PtoT>
inline constexpr int64_t block_of = 32 / sizeof(PtoT);

} // namespace pto_detail

#define PTO_FIVE(Name, member, known)                                                                               \
    template <int64_t PtoN1 = DYNAMIC, int64_t PtoN2 = DYNAMIC, int64_t PtoN3 = DYNAMIC, int64_t PtoN4 = DYNAMIC,   \
              int64_t PtoN5 = DYNAMIC>                                                                              \
    struct Name {                                                                                                   \
        static constexpr int64_t known[5] = {PtoN1, PtoN2, PtoN3, PtoN4, PtoN5};                                    \
        int64_t member[5] = {PtoN1 < 0 ? 1 : PtoN1, PtoN2 < 0 ? 1 : PtoN2, PtoN3 < 0 ? 1 : PtoN3, PtoN4 < 0 ? 1 : PtoN4, PtoN5 < 0 ? 1 : PtoN5}; \
        PTO_INTERNAL constexpr Name() {}                                                                            \
        template <class... Size>                                                                                    \
            requires(sizeof...(Size) > 0 && pto_detail::Sizes<Size...>)                                                 \
        PTO_INTERNAL constexpr Name(Size... size)                                                                   \
        {                                                                                                           \
            static_assert(sizeof...(Size) == 5 || sizeof...(Size) == pto_detail::unknown<PtoN1, PtoN2, PtoN3, PtoN4, PtoN5>, \
                          #Name " takes five numbers, or as many as it has dynamic (-1) ones");                     \
            pto_detail::fill<PtoN1, PtoN2, PtoN3, PtoN4, PtoN5, sizeof...(Size)>(member, {static_cast<int64_t>(size)...}); \
        }                                                                                                           \
    };

PTO_FIVE(Shape, shape, staticShape)
PTO_FIVE(Stride, stride, staticStride)

#define PTO_FIVE_OF_2D(Name, Base, five)                                                                            \
    namespace pto_detail {                                                                                              \
    template <Five PtoS>                                                                                            \
    using Base##Of = Base<PtoS.at[0], PtoS.at[1], PtoS.at[2], PtoS.at[3], PtoS.at[4]>;                              \
    }                                                                                                               \
    template <class PtoT, int64_t Rows = DYNAMIC, int64_t Cols = DYNAMIC, Layout PtoL = Layout::ND>                 \
    struct Name : pto_detail::Base##Of<pto_detail::five(PtoL, Rows, Cols, pto_detail::block_of<PtoT>)> {                        \
        using Parent = pto_detail::Base##Of<pto_detail::five(PtoL, Rows, Cols, pto_detail::block_of<PtoT>)>;                    \
        using Parent::Parent;                                                                                       \
        static_assert(PtoL != Layout::NZ || Rows == DYNAMIC || Rows % 16 == 0, "NZ takes rows in multiples of 16"); \
        PTO_INTERNAL constexpr Name() {}                                                                            \
        template <class PtoR, class PtoC>                                                                           \
            requires pto_detail::Sizes<PtoR, PtoC>                                                                      \
        PTO_INTERNAL constexpr Name(PtoR rows, PtoC cols) : Name(pto_detail::five(PtoL, rows, cols, pto_detail::block_of<PtoT>)) \
        {                                                                                                           \
        }                                                                                                           \
                                                                                                                    \
    private:                                                                                                        \
        PTO_INTERNAL constexpr Name(pto_detail::Five s) : Parent(s.at[0], s.at[1], s.at[2], s.at[3], s.at[4]) {}        \
    };

PTO_FIVE_OF_2D(TileShape2D, Shape, shape_of)
PTO_FIVE_OF_2D(BaseShape2D, Stride, strides_of)

} // namespace pto
