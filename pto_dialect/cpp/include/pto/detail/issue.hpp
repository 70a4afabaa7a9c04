// The one way from an operation of the interface to a call that a translation reads.
#pragma once
#include "pto/common/type.hpp"

namespace pto::pto_detail {

// How .pto spells a type of elements; null for types that are no elements.
template <class PtoT>
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
PTO_ELEMENT(int4b_t, "i4")
PTO_BYTE_FLOATS(PTO_ELEMENT)

// Objects of the interface have a type of this name that makes their descriptor, and pass their values to pto_group.
template <class PtoT>
concept Object = requires { typename PtoT::pto_object; };

template <class PtoT>
struct ScalarText {
    static constexpr Text make() { return Text() << "scalar:" << element<PtoT>; }
};
template <class PtoT>
struct PointerText {
    static constexpr Text make()
    {
        using Element = std::remove_cv_t<PtoT>;
        return Text() << "ptr:" << (element<Element> ? element<Element> : "void") << ",gm";
    }
};
template <class PtoT>
struct EnumText {
    static constexpr Text make()
    {
        if constexpr (requires { pto_enumeration(PtoT()); })
            return Text() << "enum:" << pto_enumeration(PtoT());
        else
            return Text() << "enum:int";
    }
};

// A template argument of an operation, shown as ;key=value unless it is the default.
template <Word Key, auto Value, auto... Default>
struct Mode {
    static constexpr void add(Text &text)
    {
        if constexpr (!((static_cast<long long>(Value) == static_cast<long long>(Default)) || ...)) {
            text << ';' << Key.data << '=';
            if constexpr (std::is_enum_v<decltype(Value)>)
                text << pto_spelling(Value);
            else
                text << static_cast<long long>(Value);
        }
    }
};
template <Word Name, class... Modes>
struct Named {
    static constexpr Text make()
    {
        Text text;
        text << Name.data;
        (Modes::add(text), ...);
        return text;
    }
};
template <Word Name, class... Modes>
inline constexpr const char *named = stored<Named<Name, Modes...>>;

struct End {};

struct Operation {
    using Result = void;
    template <class... PtoA>
    PTO_INTERNAL static void call(const char *name, PtoA... groups)
    {
        __pto_op(name, groups...);
    }
};
struct Call {
    using Result = void;
    template <class... PtoA>
    PTO_INTERNAL static void call(const char *name, PtoA... groups)
    {
        __pto_call(name, groups...);
    }
};
struct Alias {
    using Result = int64_t;
    template <class... PtoA>
    PTO_INTERNAL static int64_t call(const char *name, PtoA... groups)
    {
        return __pto_alias(name, groups...);
    }
};
template <class PtoR>
struct Query {
    using Result = PtoR;
    template <class... PtoA>
    PTO_INTERNAL static PtoR call(const char *name, PtoA... groups)
    {
        return __pto_query<PtoR>(name, groups...);
    }
};

// Each step takes the first operand and appends its group after the mark End.
template <class Function, class First, class... Rest>
PTO_INTERNAL typename Function::Result append(const char *name, const First &first, const Rest &...rest)
{
    if constexpr (std::is_same_v<First, End>)
        return Function::call(name, rest...);
    else if constexpr (Object<First>)
        return first.pto_group(
            [&](auto... group) __attribute__((always_inline)) { return append<Function>(name, rest..., group...); });
    else if constexpr (std::is_enum_v<First>)
        return append<Function>(name, rest..., stored<EnumText<First>>, static_cast<int>(first));
    else if constexpr (std::is_pointer_v<First>)
        return append<Function>(name, rest..., stored<PointerText<std::remove_pointer_t<First>>>, first);
    else {
        static_assert(element<First> != nullptr, "an operand must be a tile, a global tensor, a number or a pointer");
        return append<Function>(name, rest..., stored<ScalarText<First>>, first);
    }
}

template <class... Operands>
PTO_INTERNAL void issue(const char *name, const Operands &...operands)
{
    append<Operation>(name, operands..., End());
}
template <class... Operands>
PTO_INTERNAL void call(const char *name, const Operands &...operands)
{
    append<Call>(name, operands..., End());
}
template <class... Operands>
PTO_INTERNAL int64_t alias(const char *name, const Operands &...operands)
{
    return append<Alias>(name, operands..., End());
}
template <class PtoR, class... Operands>
PTO_INTERNAL PtoR query(const char *name, const Operands &...operands)
{
    return append<Query<PtoR>>(name, operands..., End());
}

} // namespace pto::pto_detail
