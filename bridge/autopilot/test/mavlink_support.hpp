#pragma once
// Messages whose every field has another value, and all their values as plain numbers in the order of the wire.

#include <string>
#include <vector>

#include "bridge/autopilot/mavlink.hpp"

namespace isochron::autopilot::mavlink {

struct Filler {
  int next = 1;
  template <class T>
  void one(T& value) {
    value = static_cast<T>(next++);
    if constexpr (std::is_floating_point_v<T>) value += T(0.25);
    if constexpr (std::is_signed_v<T>) value = -value;
  }
  template <class T, std::size_t n>
  void one(std::array<T, n>& values) {
    for (T& value : values) one(value);
  }
  void operator()(auto&... fields) { (one(fields), ...); }
};

struct Flattener {
  std::vector<double>& to;
  template <class T>
  void one(const T& value) {
    to.push_back(static_cast<double>(value));
  }
  template <class T, std::size_t n>
  void one(const std::array<T, n>& values) {
    for (const T& value : values) one(value);
  }
  void operator()(const auto&... fields) { (one(fields), ...); }
};

template <class M>
M filled(int from = 1) {
  M message;
  M::wire(Filler{from}, message);
  return message;
}
template <class M>
std::vector<double> numbers_of(const M& message) {
  std::vector<double> all;
  M::wire(Flattener{all}, message);
  return all;
}

template <class F, class... M>
void for_each_message(F&& f, List<M...>) {
  (f(M{}), ...);
}

}  // namespace isochron::autopilot::mavlink
