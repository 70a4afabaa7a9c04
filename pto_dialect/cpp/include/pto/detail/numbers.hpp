// Functions of C that neither the compiler nor the dialect has. The compiler's own names for them are these too.
#pragma once
#include <stdint.h>

// A number as a fraction in [0.5, 1) and a power of two, and back.
template <class PtoF, class PtoB, int PtoM>
PTO_INLINE PtoF __pto_fraction(PtoF number, int *exponent)
{
    constexpr int whole = sizeof(PtoF) * 8 - 1 - PtoM, bias = (1 << (whole - 1)) - 2;
    constexpr PtoB places = ((PtoB)1 << whole) - 1;
    *exponent = 0;
    PtoB bits = __builtin_bit_cast(PtoB, number);
    PtoB power = bits >> PtoM & places;
    if (power == places || number == 0)
        return number;
    int more = 0;
    if (power == 0) {
        bits = __builtin_bit_cast(PtoB, number * (PtoF)((PtoB)1 << (PtoM + 1)));
        power = bits >> PtoM & places;
        more = PtoM + 1;
    }
    *exponent = (int)power - bias - more;
    return __builtin_bit_cast(PtoF, (PtoB)((bits & ~(places << PtoM)) | (PtoB)bias << PtoM));
}
template <class PtoF, class PtoB, int PtoM>
PTO_INLINE PtoF __pto_scaled(PtoF number, int exponent)
{
    constexpr int last = (1 << (sizeof(PtoF) * 8 - 2 - PtoM)) - 1;
    constexpr PtoF large = __builtin_bit_cast(PtoF, (PtoB)(2 * last) << PtoM);
    // Small enough to stay a normal number until the last step, which rounds.
    constexpr PtoF small = __builtin_bit_cast(PtoF, (PtoB)(PtoM + 2) << PtoM);
    constexpr int down = last - PtoM - 2;
    for (int step = 0; step < 2 && exponent > last; ++step, exponent -= last)
        number *= large;
    for (int step = 0; step < 2 && exponent < 1 - last; ++step, exponent += down)
        number *= small;
    exponent = exponent > last ? last : exponent < 1 - last ? 1 - last : exponent;
    return number * __builtin_bit_cast(PtoF, (PtoB)(exponent + last) << PtoM);
}
// The name of the function, that of the compiler's own one, the body, and the types of number and bits.
#define PTO_POWER_FUNCTIONS(X)                                                    \
    X(frexpf, __pto_fraction, float, int *, uint32_t, 23)                         \
    X(frexp, __pto_fraction, double, int *, uint64_t, 52)                         \
    X(ldexpf, __pto_scaled, float, int, uint32_t, 23)                             \
    X(ldexp, __pto_scaled, double, int, uint64_t, 52)                             \
    X(scalbnf, __pto_scaled, float, int, uint32_t, 23)                            \
    X(scalbn, __pto_scaled, double, int, uint64_t, 52)
#define PTO_POWER_FUNCTION(name, body, Number, Exponent, Bits, places)            \
    extern "C" PTO_INLINE Number name(Number number, Exponent exponent) noexcept  \
    {                                                                             \
        return body<Number, Bits, places>(number, exponent);                      \
    }
PTO_POWER_FUNCTIONS(PTO_POWER_FUNCTION)
#define __builtin_frexpf(number, exponent) ::frexpf(number, exponent)
#define __builtin_frexp(number, exponent) ::frexp(number, exponent)
#define __builtin_ldexpf(number, exponent) ::ldexpf(number, exponent)
#define __builtin_ldexp(number, exponent) ::ldexp(number, exponent)
#define __builtin_scalbnf(number, exponent) ::scalbnf(number, exponent)
#define __builtin_scalbn(number, exponent) ::scalbn(number, exponent)

// The length of a vector: of doubles between powers of two that keep squares in range.
PTO_INLINE double __pto_length(double x, double y)
{
    if (__builtin_isinf(x) || __builtin_isinf(y))
        return __builtin_inf();
    int power = 0;
    __pto_fraction<double, uint64_t, 52>(__builtin_fabs(x) > __builtin_fabs(y) ? x : y, &power);
    x = __pto_scaled<double, uint64_t, 52>(x, -power);
    y = __pto_scaled<double, uint64_t, 52>(y, -power);
    return __pto_scaled<double, uint64_t, 52>(__builtin_sqrt(x * x + y * y), power);
}
extern "C" PTO_INLINE double hypot(double x, double y) noexcept { return __pto_length(x, y); }
extern "C" PTO_INLINE float hypotf(float x, float y) noexcept
{
    if (__builtin_isinf(x) || __builtin_isinf(y))
        return __builtin_inff();
    return (float)__builtin_sqrt((double)x * x + (double)y * y);
}
#define __builtin_hypot(x, y) ::hypot(x, y)
#define __builtin_hypotf(x, y) ::hypotf(x, y)

// Positive differences, whole parts and the rest, sine and cosine. The rest has the sign of the number.
#define PTO_PLAIN_FUNCTIONS(Number, end)                                                            \
    extern "C" PTO_INLINE Number fdim##end(Number x, Number y) noexcept { return x <= y ? 0 : x - y; } \
    extern "C" PTO_INLINE Number modf##end(Number number, Number *whole) noexcept                   \
    {                                                                                               \
        *whole = __builtin_trunc##end(number);                                                      \
        return __builtin_copysign##end(__builtin_isinf(number) ? 0 : number - *whole, number);      \
    }                                                                                               \
    extern "C" PTO_INLINE void sincos##end(Number angle, Number *sine, Number *cosine) noexcept     \
    {                                                                                               \
        *sine = __builtin_sin##end(angle);                                                          \
        *cosine = __builtin_cos##end(angle);                                                        \
    }
PTO_PLAIN_FUNCTIONS(double, )
PTO_PLAIN_FUNCTIONS(float, f)
#define __builtin_fdim(x, y) ::fdim(x, y)
#define __builtin_fdimf(x, y) ::fdimf(x, y)
#define __builtin_modf(number, whole) ::modf(number, whole)
#define __builtin_modff(number, whole) ::modff(number, whole)
#define __builtin_sincos(angle, sine, cosine) ::sincos(angle, sine, cosine)
#define __builtin_sincosf(angle, sine, cosine) ::sincosf(angle, sine, cosine)
