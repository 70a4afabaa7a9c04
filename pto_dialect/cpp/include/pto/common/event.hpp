// Events: one flag each, between the pipes of two operations.
#pragma once
#include "pto/common/type.hpp"

namespace pto {
struct RecordEvent {};
struct EventBaseTag {};
template <class T>
concept Awaited = std::is_base_of_v<EventBaseTag, T>;
}
