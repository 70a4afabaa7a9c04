// Enumerations of the interface. Each is one list, from which its spelling in calls is made as well.
#pragma once
#include <stdint.h>
#include <type_traits>
#include "pto/common/arch_macro.hpp"
#include "pto/common/debug.h"
#include "pto/detail/text.hpp"

// Launchers beside kernels name it, also where they include no header of the host's run time.
typedef void *aclrtStream;

#define PTO_STATIC_ASSERT_1(condition) static_assert(condition, #condition)
#define PTO_STATIC_ASSERT_2(condition, message) static_assert(condition, message)
#define PTO_STATIC_ASSERT_OF(_1, _2, name, ...) name
#define PTO_STATIC_ASSERT(...) PTO_STATIC_ASSERT_OF(__VA_ARGS__, PTO_STATIC_ASSERT_2, PTO_STATIC_ASSERT_1)(__VA_ARGS__)
#define PTO_CPU_ASSERT(...) ((void)0)
#define OP_NAME(Name)
#define OP_TYPE(Name)

#define PTO_ENUMERATOR(Enum, name, number) name = number,
#define PTO_SPELL(Enum, name, number) \
    case Enum::name:                  \
        return #name;
#define PTO_SPELLINGS(Enum, LIST)                          \
    constexpr const char *pto_spelling(Enum value)             \
    {                                                      \
        switch (value) {                                   \
            LIST(PTO_SPELL, Enum)                          \
            default:                                       \
                return "?";                                \
        }                                                  \
    }                                                      \
    constexpr const char *pto_enumeration(Enum) { return #Enum; }
#define PTO_ENUM(Enum, Base, LIST)                         \
    enum class Enum : Base { LIST(PTO_ENUMERATOR, Enum) }; \
    PTO_SPELLINGS(Enum, LIST)
#define PTO_PLAIN_ENUM(Enum, Base, LIST)             \
    enum Enum : Base { LIST(PTO_ENUMERATOR, Enum) }; \
    PTO_SPELLINGS(Enum, LIST)

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
#define PTO_LIST(X, E) X(E, Null, 0) X(E, Normal, 1) X(E, RowPlusOne, 2) X(E, RowAlignedPadding, 3)
PTO_ENUM(CompactMode, int, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, AtomicNone, 0) X(E, AtomicAdd, 1) X(E, AtomicMax, 2) X(E, AtomicMin, 3)
PTO_ENUM(AtomicType, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, NoRelu, 0) X(E, NormalRelu, 1)
PTO_ENUM(ReluPreMode, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, Unspecified, 0) X(E, Partial, 2) X(E, Final, 3)
PTO_ENUM(STPhase, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) \
    X(E, SingleModeVec0, 0) X(E, SingleModeVec1, 1) X(E, DualModeSplitM, 2) X(E, DualModeSplitN, 3)
PTO_ENUM(AccToVecMode, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) \
    X(E, CAST_NONE, 0) X(E, CAST_RINT, 1) X(E, CAST_ROUND, 2) X(E, CAST_FLOOR, 3) X(E, CAST_CEIL, 4) \
    X(E, CAST_TRUNC, 5) X(E, CAST_ODD, 6)
PTO_ENUM(RoundMode, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, ON, 0) X(E, OFF, 1)
PTO_ENUM(SaturationMode, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, EQ, 0) X(E, NE, 1) X(E, LT, 2) X(E, LE, 3) X(E, GT, 4) X(E, GE, 5)
PTO_ENUM(CmpMode, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) \
    X(E, P0101, 1) X(E, P1010, 2) X(E, P0001, 3) X(E, P0010, 4) X(E, P0100, 5) X(E, P1000, 6) X(E, P1111, 7)
PTO_ENUM(MaskPattern, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, Normal, 0) X(E, InPlace, 1) X(E, Expand, 2)
PTO_ENUM(TFillPadMode, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, SPLIT2, 2) X(E, SPLIT4, 3)
PTO_ENUM(TInsertMode, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) \
    X(E, FMATRIX_A_AUTO, 0) X(E, FMATRIX_B_AUTO, 1) X(E, FMATRIX_A_MANUAL, 2) X(E, FMATRIX_B_MANUAL, 3)
PTO_ENUM(SetFmatrixMode, int, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, Width8_Precision4, 0) X(E, Width8_Precision2, 1) X(E, Width10_Precision6, 2)
PTO_ENUM(PrintFormat, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, MXFP8, 0) X(E, MXFP4_E2M1, 1) X(E, INT8_SYM, 2) X(E, INT8_ASYM, 3)
PTO_ENUM(QuantType, int, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, OCP, 0) X(E, NV, 1)
PTO_ENUM(QuantScaleAlg, int, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) \
    X(E, OcpMxFp8E4M3, 0) X(E, NvMxFp8E4M3, 1) X(E, OcpMxFp4E2M1, 2) X(E, NvMxFp4E2M1, 3) X(E, Hif4, 4)
PTO_ENUM(MxQuantAlg, int, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, ND, 0) X(E, NZ, 1)
PTO_ENUM(VecStoreMode, int, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, BYTE_0, 0) X(E, BYTE_1, 1) X(E, BYTE_2, 2) X(E, BYTE_3, 3)
PTO_ENUM(HistByte, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, SHALLOW_COPY, 0) X(E, DEEP_COPY, 1)
PTO_ENUM(TCopyMode, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, Hard, 0) X(E, Soft, 1)
PTO_ENUM(SyncAllMode, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, AIVOnly, 0) X(E, AICOnly, 1) X(E, Mix, 2)
PTO_ENUM(SyncCoreType, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, GATHER_ROW, 0) X(E, GATHER_COL, 1)
PTO_ENUM(GatherAxis, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, Undefined, 0) X(E, Clamp, 1) X(E, Wrap, 2) X(E, Zero, 3)
PTO_ENUM(GatherOOB, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, Scalar, 0) X(E, Simt, 1)
PTO_ENUM(GatherExec, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, SCATTER_ROW, 0) X(E, SCATTER_COL, 1)
PTO_ENUM(ScatterAxis, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, None, 0) X(E, Add, 1) X(E, Max, 2) X(E, Min, 3)
PTO_ENUM(ScatterAtomicOp, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, Undefined, 0) X(E, Skip, 1) X(E, Clamp, 2) X(E, Wrap, 3)
PTO_ENUM(ScatterOOB, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, Last, 0) X(E, Default, 1)
PTO_ENUM(ScatterConflict, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, Row, 0) X(E, Elem, 1)
PTO_ENUM(Coalesce, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, ND, 0) X(E, DN, 1) X(E, NZ, 2) X(E, ZN, 3) X(E, ZZ, 4) X(E, NONE, 5)
PTO_ENUM(TileLayoutCustom, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, DEFAULT, 0) X(E, HIGH_PRECISION, 1)
PTO_ENUM(PowAlgorithm, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, DEFAULT, 0) X(E, HIGH_PRECISION, 1)
PTO_ENUM(DivAlgorithm, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, DEFAULT, 0) X(E, HIGH_PRECISION, 1)
PTO_ENUM(SqrtAlgorithm, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, DEFAULT, 0) X(E, HIGH_PRECISION, 1)
PTO_ENUM(RsqrtAlgorithm, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, DEFAULT, 0) X(E, HIGH_PRECISION, 1)
PTO_ENUM(RecipAlgorithm, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, DEFAULT, 0) X(E, HIGH_PRECISION, 1)
PTO_ENUM(ExpAlgorithm, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, DEFAULT, 0) X(E, HIGH_PRECISION, 1)
PTO_ENUM(LogAlgorithm, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, DEFAULT, 0) X(E, HIGH_PRECISION, 1)
PTO_ENUM(FmodAlgorithm, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, DEFAULT, 0) X(E, HIGH_PRECISION, 1)
PTO_ENUM(FmodSAlgorithm, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, DEFAULT, 0) X(E, HIGH_PRECISION, 1)
PTO_ENUM(RemAlgorithm, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) X(E, DEFAULT, 0) X(E, HIGH_PRECISION, 1)
PTO_ENUM(RemSAlgorithm, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) \
    X(E, TILE_NO_SPLIT, 0) X(E, TILE_UP_DOWN, 1) X(E, TILE_LEFT_RIGHT, 2) X(E, TILE_UP_DOWN_ODD, 3) \
    X(E, TILE_LEFT_RIGHT_ODD, 4)
PTO_PLAIN_ENUM(TileSplitAxis, uint8_t, PTO_LIST)
#undef PTO_LIST
#define PTO_LIST(X, E) \
    X(E, UNDEFINED, 0) X(E, DIR_C2V, 1) X(E, DIR_V2C, 2) X(E, DIR_BOTH, 3) X(E, DIR_V2C_CTRL, 4) \
    X(E, DIR_C2V_GM, 5) X(E, DIR_V2C_GM, 6) X(E, DIR_BOTH_GM, 7)
PTO_PLAIN_ENUM(Direction, uint8_t, PTO_LIST)
#undef PTO_LIST

// Unknown is another name of Unspecified.
enum class AccPhase : uint8_t { Unspecified = 0, Unknown = 0, Partial = 2, Final = 3 };
constexpr const char *pto_spelling(AccPhase value) { return pto_spelling(static_cast<STPhase>(value)); }
constexpr const char *pto_enumeration(AccPhase) { return "AccPhase"; }

// Beyond the named values, bit 32 and the bits of a number: constants.hpp.
enum class PadValue : uint64_t { Null = 0, Zero = 1, Max = 2, Min = 3, CustomBase = 0x100000000ull };
constexpr pto_detail::Text pto_spelling(PadValue value)
{
    constexpr const char *names[] = {"Null", "Zero", "Max", "Min"};
    const uint64_t number = static_cast<uint64_t>(value);
    return number < 4 ? pto_detail::Text() << names[number] : pto_detail::Text() << static_cast<long long>(number);
}
constexpr const char *pto_enumeration(PadValue) { return "PadValue"; }

// Four bits; two elements share a byte.
struct int4b_t {
    uint8_t storage;
    int4b_t() = default;
    explicit int4b_t(int32_t value) : storage(static_cast<uint8_t>(value) & 15) {}
    operator int8_t() const { return static_cast<int8_t>(static_cast<uint8_t>(storage << 4)) >> 4; }
};

template <class PtoT>
union FloatIntUnion {
    using UIntegerType = std::conditional_t<sizeof(PtoT) == 4, uint32_t, uint16_t>;
    UIntegerType i;
    PtoT f;
    constexpr FloatIntUnion() : f(0) {}
    constexpr FloatIntUnion(UIntegerType value) : i(value) {}
};
using FloatUnion = FloatIntUnion<float>;
using HalfUnion = FloatIntUnion<half>;

namespace GlobalTensorDim {
constexpr int DIM_0 = 0, DIM_1 = 1, DIM_2 = 2, DIM_3 = 3, DIM_4 = 4, TOTAL_DIM = 5;
}

constexpr uint16_t SYNC_AIC_FLAG = 11, SYNC_AIV_FLAG = 12, SYNC_AIC_AIV_FLAG = 13, SYNC_AIV_ONLY_ALL = 14;
constexpr uint16_t SYNC_FLAG_ID_MAX = 16;
constexpr int32_t SYNCALL_SOFT_WORKSPACE_INT32 = 16;

constexpr int PTO_RANDOM_KEY_SIZE = 2, PTO_RANDOM_COUNTER_SIZE = 4;
using TRandomKey = uint32_t[PTO_RANDOM_KEY_SIZE];
using TRandomCounter = uint32_t[PTO_RANDOM_COUNTER_SIZE];

} // namespace pto
