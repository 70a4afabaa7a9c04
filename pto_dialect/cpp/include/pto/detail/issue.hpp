// The one way from an operation of the interface to a call that a translation reads.
#pragma once
#include "pto/common/type.hpp"

namespace pto::detail {

// How .pto spells a type of elements; null for types that are no elements.
template <class T>
inline constexpr const char *element = nullptr;
#define PTO_ELEMENT(Type, spelled) \
    template <>                    \
    inline constexpr const char *element<Type> = spelled;
PTO_ELEMENT(half, "f16")
PTO_ELEMENT(bfloat16_t, "bf16")
PTO_ELEMENT(float, "f32")
PTO_ELEMENT(double, "f64")
PTO_ELEMENT(bool, "i1")
PTO_ELEMENT(char, "i8")
PTO_ELEMENT(int8_t, "i8")
PTO_ELEMENT(uint8_t, "ui8")
PTO_ELEMENT(int16_t, "i16")
PTO_ELEMENT(uint16_t, "ui16")
PTO_ELEMENT(int32_t, "i32")
PTO_ELEMENT(uint32_t, "ui32")
PTO_ELEMENT(long, "i64")
PTO_ELEMENT(unsigned long, "ui64")
PTO_ELEMENT(long long, "i64")
PTO_ELEMENT(unsigned long long, "ui64")

// Objects of the interface say by a member of this name how they are passed.
template <class T>
concept Object = requires { typename T::pto_object; };

template <class T>
struct ScalarText {
    static constexpr Text make() { return Text() << "scalar:" << element<T>; }
};
template <class T>
struct PointerText {
    static constexpr Text make()
    {
        using Element = std::remove_cv_t<T>;
        return Text() << "pointer:" << (element<Element> ? element<Element> : "void");
    }
};
template <class T>
struct EnumText {
    static constexpr Text make()
    {
        if constexpr (requires { enumeration(T()); })
            return Text() << "enum:" << enumeration(T());
        else
            return Text() << "enum:int";
    }
};

struct End {};

// Each step takes the first operand and appends its group behind the mark End.
template <class First, class... Rest>
PTO_INTERNAL void append(const char *name, const First &first, const Rest &...rest)
{
    if constexpr (std::is_same_v<First, End>)
        __pto_op(name, rest...);
    else if constexpr (Object<First>)
        first.pto_group([&](auto... group) __attribute__((always_inline)) { append(name, rest..., group...); });
    else if constexpr (std::is_enum_v<First>)
        append(name, rest..., stored<EnumText<First>>, static_cast<int>(first));
    else if constexpr (std::is_pointer_v<First>)
        append(name, rest..., stored<PointerText<std::remove_pointer_t<First>>>, first);
    else {
        static_assert(element<First> != nullptr, "an operand must be a tile, a global tensor, a number or a pointer");
        append(name, rest..., stored<ScalarText<First>>, first);
    }
}

template <class... Operands>
PTO_INTERNAL void issue(const char *name, const Operands &...operands)
{
    append(name, operands..., End());
}

} // namespace pto::detail
