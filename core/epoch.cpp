#include "core/epoch.hpp"

#include <time.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <string_view>

namespace isochron {

namespace {

constexpr std::int64_t second = 1'000'000'000;

/// A number of exactly so many digits, taken off the text.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int number = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    number = number * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

/// What follows the point of seconds, in nanoseconds.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
  std::int64_t ns = 0, place = second / 10;
  std::size_t digits = 0;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), place /= 10, ++digits) {
    ns += (text.front() - '0') * place;
  }
  if (digits < 1 || digits > 9) return std::nullopt;
  return ns;
}

std::optional<std::int64_t> time_of_day(std::string_view& rest) {
  const auto hour = take_number(rest, 2);
  if (!hour || *hour > 23 || !take(rest, ':')) return std::nullopt;
  const auto minute = take_number(rest, 2);
  if (!minute || *minute > 59 || !take(rest, ':')) return std::nullopt;
  const auto whole = take_number(rest, 2);
  if (!whole || *whole > 59) return std::nullopt;
  const auto part = take(rest, '.') ? take_fraction(rest) : 0;
  if (!part) return std::nullopt;
  return ((*hour * 60 + *minute) * 60 + *whole) * second + *part;
}

std::optional<std::int64_t> parse_utc(std::string_view rest) {
  const auto year = take_number(rest, 4);
  if (!year || *year < 1970 || *year > 2199 || !take(rest, '-')) return std::nullopt;
  const auto month = take_number(rest, 2);
  if (!month || !take(rest, '-')) return std::nullopt;
  const auto day = take_number(rest, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  std::int64_t ns = std::int64_t{std::chrono::sys_days(date).time_since_epoch().count()} * 86400 * second;
  if (rest.empty()) return ns;
  if (!take(rest, 'T') && !take(rest, ' ')) return std::nullopt;
  const auto time = time_of_day(rest);
  if (!time) return std::nullopt;
  take(rest, 'Z');
  if (!rest.empty()) return std::nullopt;
  return ns + *time;
}

}  // namespace

Epoch Epoch::of_wall_clock() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return {std::int64_t{t.tv_sec} * second + t.tv_nsec};
}

Result<Epoch, std::string> Epoch::parse(const std::string& text) {
  const auto ns = parse_utc(text);
  if (!ns) {
    return fail("`" + text.substr(0, 40) +
                "` is not a date between 1970 and 2199; write it in UTC, as in 2030-01-01 or 2030-01-01T12:30:00Z");
  }
  return Epoch{*ns};
}

std::string to_string(const Epoch& epoch) {
  const auto whole = static_cast<time_t>(epoch.unix_ns / second);
  tm utc{};
  gmtime_r(&whole, &utc);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                utc.tm_hour, utc.tm_min, utc.tm_sec);
  std::string written = text;
  if (const std::int64_t part = epoch.unix_ns % second; part != 0) {
    std::snprintf(text, sizeof text, ".%09lld", static_cast<long long>(part));
    written += text;
    written.erase(written.find_last_not_of('0') + 1);
  }
  return written + "Z";
}

}  // namespace isochron
