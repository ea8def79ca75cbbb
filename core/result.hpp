#pragma once
// Result carries a value or the reason why there is none, for what is expected to happen at run time: late, full, peer
// gone. It is [[nodiscard]], so that a failure cannot be overlooked.
//
// Requires: value() only when ok(), error() only when not; a mistake there aborts.

#include <type_traits>
#include <utility>
#include <variant>

#include "core/ensure.hpp"

namespace isochron {

/// Wraps an error on its way into a Result: `return fail(Why::full);`
template <class E>
struct Failure {
  E error;
};
template <class E>
[[nodiscard]] constexpr Failure<std::decay_t<E>> fail(E&& error) {
  return {std::forward<E>(error)};
}

template <class T, class E>
class [[nodiscard]] Result {
 public:
  constexpr Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  template <class F, class = std::enable_if_t<std::is_convertible_v<F, E>>>
  constexpr Result(Failure<F> failure) : held_(std::in_place_index<1>, std::move(failure.error)) {}

  [[nodiscard]] constexpr bool ok() const noexcept { return held_.index() == 0; }
  constexpr explicit operator bool() const noexcept { return ok(); }

  constexpr const T& value() const& { return demand_value(), std::get<0>(held_); }
  constexpr T& value() & { return demand_value(), std::get<0>(held_); }
  constexpr T&& value() && { return demand_value(), std::get<0>(std::move(held_)); }
  constexpr const T& operator*() const& { return value(); }
  constexpr T& operator*() & { return value(); }
  constexpr T&& operator*() && { return std::move(*this).value(); }
  constexpr const T* operator->() const { return &value(); }
  constexpr T* operator->() { return &value(); }

  constexpr const E& error() const& {
    ENSURE(!ok(), "asked for the error of a success");
    return std::get<1>(held_);
  }
  constexpr T value_or(T other) const& { return ok() ? std::get<0>(held_) : std::move(other); }

 private:
  constexpr void demand_value() const { ENSURE(ok(), "asked for the value of a failure"); }
  std::variant<T, E> held_;
};

/// For what either works or does not: `return done();`
using Done = std::monostate;
constexpr Done done() { return {}; }

}  // namespace isochron
