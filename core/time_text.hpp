#pragma once
// Times as people write them: `10ms`, `1.5s`, `250us`, `2min`. What is printed reads back to the same value.

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "core/time.hpp"

namespace isochron {

/// Whole nanoseconds of a text like "10ms". The unit (ns us µs ms s min h) is required, except for "0".
/// Fails: a sentence that says what is wrong and what would be right.
Result<std::int64_t, std::string> parse_ns(std::string_view text);

template <class Clock>
Result<Span<Clock>, std::string> parse_span(std::string_view text) {
  auto ns = parse_ns(text);
  if (!ns) return fail(ns.error());
  return Span<Clock>::from_ns(*ns);
}

/// The shortest exact form: 1500000 -> "1.5ms", never() -> "never".
std::string format_ns(std::int64_t ns);
/// Three significant digits, for people: 1234567 -> "1.23ms".
std::string format_ns_short(std::int64_t ns);

template <class Clock>
std::string to_string(Span<Clock> span) {
  return format_ns(span.ns());
}
template <class Clock>
std::string to_string(Time<Clock> time) {
  return time == Time<Clock>::never() ? "never" : format_ns(time.ns());
}

}  // namespace isochron
