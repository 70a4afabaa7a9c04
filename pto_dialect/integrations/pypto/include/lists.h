// Sequences that grow, with what the interface needs of them. The headers of the standard library that have the same take
// longer to read than everything else of an orchestration, and each orchestration reads them anew.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Numbers, pointers and plain structures one behind the other; they may move when one is added.
template <typename T>
class PtoList {
public:
    PtoList() = default;
    PtoList(const PtoList &other) { append(other.begin(), other.end()); }
    PtoList &operator=(const PtoList &other) {
        if (this != &other) {
            clear();
            append(other.begin(), other.end());
        }
        return *this;
    }
    ~PtoList() { free(items); }

    void push_back(const T &item) {
        const T kept = item;
        if (count == room) grow(count + 1);
        memcpy(static_cast<void *>(items + count++), &kept, sizeof(T));
    }
    // What is added lies in another list.
    void append(const T *first, const T *last) {
        const size_t more = last - first;
        if (!more) return;
        if (count + more > room) grow(count + more);
        memcpy(static_cast<void *>(items + count), first, more * sizeof(T));
        count += more;
    }
    void clear() { count = 0; }
    bool empty() const { return !count; }
    size_t size() const { return count; }
    const T *data() const { return items; }
    const T *begin() const { return items; }
    const T *end() const { return items + count; }
    const T &operator[](size_t index) const { return items[index]; }

private:
    void grow(size_t least) {
        room = least > 2 * room ? least : 2 * room;
        items = static_cast<T *>(realloc(static_cast<void *>(items), room * sizeof(T)));
        if (!items) abort();
    }

    T *items = nullptr;
    size_t count = 0, room = 0;
};

// Objects that stay where they are until the end.
template <typename T>
class PtoStore {
public:
    PtoStore() = default;
    PtoStore(const PtoStore &) = delete;
    PtoStore &operator=(const PtoStore &) = delete;
    ~PtoStore() {
        for (T *one : all) delete one;
    }
    T &add(const T &item) {
        T *kept = new T(item);
        all.push_back(kept);
        return *kept;
    }

private:
    PtoList<T *> all;
};
