// Strings that are built while compiling: descriptors of operands and names of operations.
#pragma once

namespace pto::pto_detail {

struct Text {
    char data[256] = {};
    int size = 0;

    constexpr Text &operator<<(char letter)
    {
        data[size++] = letter;
        return *this;
    }
    constexpr Text &operator<<(const char *word)
    {
        while (*word)
            *this << *word++;
        return *this;
    }
    constexpr Text &operator<<(long long number)
    {
        unsigned long long rest = number < 0 ? 0ull - static_cast<unsigned long long>(number) : number;
        char digits[24] = {};
        int count = 0;
        do {
            digits[count++] = static_cast<char>('0' + rest % 10);
            rest /= 10;
        } while (rest);
        if (number < 0)
            *this << '-';
        while (count)
            *this << digits[--count];
        return *this;
    }
    constexpr Text &operator<<(int number) { return *this << static_cast<long long>(number); }
    constexpr Text &operator<<(const Text &other)
    {
        for (int index = 0; index < other.size; ++index)
            *this << other.data[index];
        return *this;
    }
    constexpr Text &operator<<(long number) { return *this << static_cast<long long>(number); }
};

template <int Size>
struct Letters {
    char data[Size + 1];
};

// The text that Maker::make() returns, as one constant of the program.
template <class Maker>
struct Stored {
    static constexpr Text text = Maker::make();
    static constexpr Letters<text.size> trim()
    {
        Letters<text.size> letters = {};
        for (int index = 0; index < text.size; ++index)
            letters.data[index] = text.data[index];
        return letters;
    }
    static constexpr Letters<text.size> value = trim();
};

template <class Maker>
inline constexpr const char *stored = Stored<Maker>::value.data;

template <unsigned long Size>
struct Word {
    char data[Size] = {};
    constexpr Word(const char (&letters)[Size])
    {
        for (unsigned long index = 0; index < Size; ++index)
            data[index] = letters[index];
    }
};

} // namespace pto::pto_detail
