// The operations.
#pragma once
#include "pto/common/event.hpp"
#include "pto/common/pto_tile.hpp"

namespace pto {

template <TileObject T, class Address>
PTO_INTERNAL void TASSIGN(T &tile, Address address)
{
    tile.pto_address = __pto_assign(detail::stored<typename T::pto_object>, (int64_t)address);
}
template <size_t Address, TileObject T>
PTO_INTERNAL void TASSIGN(T &tile)
{
    TASSIGN(tile, Address);
}
template <GlobalObject G>
PTO_INTERNAL void TASSIGN(G &tensor, typename G::DType *data)
{
    tensor.SetAddr(data);
}

#define PTO_1_1(Name)                                                            \
    template <TileObject D, TileObject A, Awaited... Events>                     \
    PTO_INTERNAL RecordEvent Name(D &dst, A &src, Events &...events)             \
    {                                                                            \
        (events.Wait(), ...);                                                    \
        detail::issue(#Name, dst, src);                                          \
        return {};                                                               \
    }
#define PTO_1_2(Name)                                                            \
    template <TileObject D, TileObject A, TileObject B, Awaited... Events>       \
    PTO_INTERNAL RecordEvent Name(D &dst, A &src0, B &src1, Events &...events)   \
    {                                                                            \
        (events.Wait(), ...);                                                    \
        detail::issue(#Name, dst, src0, src1);                                   \
        return {};                                                               \
    }
#define PTO_1_1S(Name)                                                           \
    template <TileObject D, TileObject A, Awaited... Events>                     \
    PTO_INTERNAL RecordEvent Name(D &dst, A &src, typename A::DType scalar, Events &...events) \
    {                                                                            \
        (events.Wait(), ...);                                                    \
        detail::issue(#Name, dst, src, scalar);                                  \
        return {};                                                               \
    }
PTO_1_2(TADD)
PTO_1_2(TSUB)
PTO_1_2(TMUL)
PTO_1_2(TDIV)
PTO_1_2(TMAX)
PTO_1_1(TEXP)
PTO_1_1(TMOV)
PTO_1_1(TEXTRACT)
PTO_1_1S(TMULS)
PTO_1_1S(TADDS)
PTO_1_2(TMATMUL)
template <TileObject D, TileObject A, TileObject B, TileObject C, Awaited... Events>
PTO_INTERNAL RecordEvent TMATMUL_ACC(D &dst, A &acc, B &left, C &right, Events &...events)
{
    (events.Wait(), ...);
    detail::issue("TMATMUL_ACC", dst, acc, left, right);
    return {};
}
PTO_1_2(TROWSUM)
PTO_1_2(TROWEXPANDMUL)

template <TileObject D, GlobalObject G, Awaited... Events>
PTO_INTERNAL RecordEvent TLOAD(D &dst, G &src, Events &...events)
{
    (events.Wait(), ...);
    detail::issue("TLOAD", dst, src);
    return {};
}
template <TileObject D, GlobalObject G, Awaited... Events>
PTO_INTERNAL RecordEvent TSTORE(G &dst, D &src, Events &...events)
{
    (events.Wait(), ...);
    detail::issue("TSTORE", dst, src);
    return {};
}

} // namespace pto
