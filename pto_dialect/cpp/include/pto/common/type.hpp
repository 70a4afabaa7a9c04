// Enumerations of the interface. Each is one list, from which its spelling in calls is made as well.
#pragma once
#include <stdint.h>
#include <type_traits>
#include "pto/detail/text.hpp"

#define PTO_ENUMERATOR(Enum, name, number) name = number,
#define PTO_SPELL(Enum, name, number) \
    case Enum::name:                  \
        return #name;
#define PTO_ENUM(Enum, Base, LIST)                         \
    enum class Enum : Base { LIST(PTO_ENUMERATOR, Enum) }; \
    constexpr const char *spelling(Enum value)             \
    {                                                      \
        switch (value) {                                   \
            LIST(PTO_SPELL, Enum)                          \
        }                                                  \
        return "?";                                        \
    }                                                      \
    constexpr const char *enumeration(Enum) { return #Enum; }

namespace pto {

#define PTO_LIST(X, E) \
    X(E, Vec, 0) X(E, Mat, 1) X(E, Left, 2) X(E, Right, 3) X(E, Acc, 4) X(E, Bias, 5) X(E, Scaling, 6) \
    X(E, ScaleLeft, 7) X(E, ScaleRight, 8) X(E, Ctrl, 9)
PTO_ENUM(TileType, int, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, RowMajor, 0) X(E, ColMajor, 1)
PTO_ENUM(BLayout, int, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, NoneBox, 0) X(E, RowMajor, 1) X(E, ColMajor, 2)
PTO_ENUM(SLayout, int, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) \
    X(E, ND, 0) X(E, DN, 1) X(E, NZ, 2) X(E, SCALE, 3) X(E, MX_A_ND, 4) X(E, MX_A_DN, 5) X(E, MX_A_ZZ, 6) \
    X(E, MX_B_ND, 7) X(E, MX_B_DN, 8) X(E, MX_B_NN, 9) X(E, HIF4_A_ZZ, 10) X(E, HIF4_B_NN, 11) \
    X(E, NC1HWC0, 12) X(E, GNC1HWC0, 13) X(E, NCHW, 14) X(E, GNCHW, 15) X(E, NHWC, 16) X(E, NDC1HWC0, 17) \
    X(E, NCDHW, 18) X(E, FRACTAL_Z, 19) X(E, FRACTAL_Z_S16S8, 20) X(E, FRACTAL_Z_3D, 21) X(E, MAX, 22)
PTO_ENUM(Layout, int, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, AtomicNone, 0) X(E, AtomicAdd, 1) X(E, AtomicMax, 2) X(E, AtomicMin, 3)
PTO_ENUM(AtomicType, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, NoRelu, 0) X(E, NormalRelu, 1)
PTO_ENUM(ReluPreMode, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, Null, 0) X(E, Zero, 1) X(E, Max, 2) X(E, Min, 3)
PTO_ENUM(PadValue, uint64_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, Null, 0) X(E, Normal, 1) X(E, RowPlusOne, 2) X(E, RowAlignedPadding, 3)
PTO_ENUM(CompactMode, int, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, Unspecified, 0) X(E, Partial, 2) X(E, Final, 3)
PTO_ENUM(STPhase, uint8_t, PTO_LIST)
#undef PTO_LIST

} // namespace pto
