#include "core/time_text.hpp"

#include <array>
#include <cstdio>
#include <limits>

namespace isochron {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ns;
};
constexpr std::array<Unit, 8> units{{{"ns", 1},
                                     {"us", 1'000},
                                     {"\xc2\xb5s", 1'000},  // µs
                                     {"ms", 1'000'000},
                                     {"s", 1'000'000'000},
                                     {"min", 60'000'000'000},
                                     {"h", 3'600'000'000'000},
                                     {"\xce\xbcs", 1'000}}};  // μs, the Greek letter

std::string quoted(std::string_view text) { return "`" + std::string(text.substr(0, 40)) + "`"; }

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Result<std::int64_t, std::string> parse_ns(std::string_view text) {
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (negative) rest.remove_prefix(1);

  // The digits make one integer `mantissa`, the places after the point are counted in `decimals`.
  __int128 mantissa = 0;
  int decimals = 0;
  bool point = false;
  bool any = false;
  while (!rest.empty() && (is_digit(rest.front()) || (rest.front() == '.' && !point))) {
    if (rest.front() == '.') {
      point = true;
    } else {
      if (mantissa > std::numeric_limits<std::int64_t>::max()) return fail(quoted(text) + " is too large for a time");
      mantissa = mantissa * 10 + (rest.front() - '0');
      decimals += point ? 1 : 0;
      any = true;
    }
    rest.remove_prefix(1);
  }
  if (!any) return fail(quoted(text) + " is not a time; write a number and a unit, as in `10ms` or `1.5s`");
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  if (rest.empty()) {
    if (mantissa == 0) return std::int64_t{0};
    return fail(quoted(text) + " has no unit; write `" + std::string(text) + "ms` or another of ns us ms s min h");
  }
  for (const Unit& unit : units) {
    if (rest != unit.name) continue;
    __int128 ns = mantissa * unit.ns;
    for (; decimals > 0; --decimals) {
      if (ns % 10 != 0) return fail(quoted(text) + " is not a whole number of nanoseconds");
      ns /= 10;
    }
    if (ns > std::numeric_limits<std::int64_t>::max()) return fail(quoted(text) + " is longer than 292 years");
    const auto value = static_cast<std::int64_t>(ns);
    return negative ? -value : value;
  }
  return fail(quoted(rest) + " is not a unit of time; use one of ns us ms s min h");
}

std::string format_ns(std::int64_t ns) {
  if (ns == 0) return "0s";
  const bool negative = ns < 0;
  // The magnitude of INT64_MIN does not fit an int64.
  const auto magnitude = negative ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  const char* name = "ns";
  std::uint64_t unit = 1;
  if (magnitude >= 1'000'000'000) {
    name = "s", unit = 1'000'000'000;
  } else if (magnitude >= 1'000'000) {
    name = "ms", unit = 1'000'000;
  } else if (magnitude >= 1'000) {
    name = "us", unit = 1'000;
  }
  std::string text = (negative ? "-" : "") + std::to_string(magnitude / unit);
  if (std::uint64_t rest = magnitude % unit; rest != 0) {
    std::string digits = std::to_string(unit + rest).substr(1);  // leading zeros kept
    digits.erase(digits.find_last_not_of('0') + 1);
    text += "." + digits;
  }
  return text + name;
}

std::string format_ns_short(std::int64_t ns) {
  const double magnitude = ns < 0 ? -static_cast<double>(ns) : static_cast<double>(ns);
  const auto [unit, name] = magnitude >= 999.5e6   ? std::pair{1e9, "s"}
                            : magnitude >= 999.5e3 ? std::pair{1e6, "ms"}
                            : magnitude >= 999.5   ? std::pair{1e3, "us"}
                                                   : std::pair{1.0, "ns"};
  const double value = static_cast<double>(ns) / unit;
  const double size = magnitude / unit;
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%.*f%s", unit == 1.0 || size >= 100 ? 0 : size >= 10 ? 1 : 2, value, name);
  return text.data();
}

}  // namespace isochron
