#include "scenario/section.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "core/limits.hpp"
#include "scenario/find_file.hpp"

namespace isochron {

bool SectionReader::demand_scalar(const Value& value, const char* what) {
  if (value.kind == Value::Kind::scalar) return true;
  mistake(value.place, std::string(what) + " is expected here", "");
  return false;
}

void SectionReader::check_name(const Value::Entry& entry) {
  const bool good = !entry.key.empty() && entry.key.size() <= 100 &&
                    entry.key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
                        std::string::npos;
  if (!good) mistake(entry.key_place, "`" + entry.key + "` is not a name", "use letters, digits, _ and -");
}

void SectionReader::finish(Section& section) {
  section.place = value_.place;
  if (value_.kind == Value::Kind::null) return;  // as an empty map
  if (value_.kind != Value::Kind::map) {
    return mistake(value_.place, "keys with their values are expected here", nearest_hint("", known_));
  }
  for (const Value::Entry& entry : value_.entries) {
    section.key_places[entry.key] = entry.value.place.line > 0 ? entry.value.place : entry.key_place;
    if (std::find(known_.begin(), known_.end(), entry.key) == known_.end()) {
      mistake(entry.key_place, "unknown key `" + entry.key + "`", nearest_hint(entry.key, known_));
    }
  }
}

void SectionReader::read(const Value& value, std::string& target) {
  if (demand_scalar(value, "text")) target = value.scalar;
}

void SectionReader::read(const Value& value, bool& target) {
  if (!demand_scalar(value, "true or false")) return;
  if (value.scalar != "true" && value.scalar != "false") {
    return mistake(value.place, "`" + value.scalar + "` is neither true nor false", "");
  }
  target = value.scalar == "true";
}

template <class T>
void SectionReader::read_whole(const Value& value, T& target) {
  if (!demand_scalar(value, "a whole number")) return;
  const char* end = value.scalar.data() + value.scalar.size();
  const auto [stop, code] = std::from_chars(value.scalar.data(), end, target);
  if (code != std::errc{} || stop != end) mistake(value.place, "`" + value.scalar + "` is not a whole number here", "");
}

void SectionReader::read(const Value& value, double& target) {
  if (!demand_scalar(value, "a number")) return;
  const char* end = value.scalar.data() + value.scalar.size();
  const auto [stop, code] = std::from_chars(value.scalar.data(), end, target);
  if (code != std::errc{} || stop != end || !std::isfinite(target)) {
    mistake(value.place, "`" + value.scalar + "` is not a number", "");
  }
}

void SectionReader::read(const Value& value, std::uint64_t& target) { read_whole(value, target); }
void SectionReader::read(const Value& value, std::uint32_t& target) { read_whole(value, target); }
void SectionReader::read(const Value& value, int& target) { read_whole(value, target); }

void SectionReader::read(const Value& value, SimSpan& target) {
  if (!demand_scalar(value, "a time such as 10ms")) return;
  const auto span = parse_span<SimClockTag>(value.scalar);
  if (!span) return mistake(value.place, span.error(), "");
  if (!limits::is_span(span->ns())) return mistake(value.place, "this is longer than fifty years", "");
  target = *span;
}

void SectionReader::read(const Value& value, WallSpan& target) {
  if (!demand_scalar(value, "a time such as 5s")) return;
  const auto span = parse_span<WallClockTag>(value.scalar);
  if (!span) return mistake(value.place, span.error(), "");
  if (!limits::is_span(span->ns())) return mistake(value.place, "this is longer than fifty years", "");
  target = *span;
}

void SectionReader::read(const Value& value, Fraction& target) {
  if (!demand_scalar(value, "a factor such as 0.25")) return;
  const auto fraction = parse_fraction(value.scalar);
  if (!fraction) return mistake(value.place, fraction.error(), "");
  target = *fraction;
}

void SectionReader::read(const Value& value, FilePath& target) {
  if (!demand_scalar(value, "a file")) return;
  const std::filesystem::path given(value.scalar);
  const std::filesystem::path full = given.is_absolute() ? given : std::filesystem::path(folder_) / given;
  std::error_code ignored;
  if (!std::filesystem::exists(full, ignored)) {
    mistake(value.place, "there is no file `" + full.lexically_normal().string() + "`",
            "paths are relative to the scenario file");
  }
  target.path = full.lexically_normal().string();
}

void SectionReader::read(const Value& value, LibraryPath& target) {
  if (!demand_scalar(value, "a shared library")) return;
  const auto found = find_library(value.scalar, folder_);
  if (!found) {
    mistake(value.place, "there is no shared library `" + value.scalar + "`",
            "it is looked for next to the scenario file and in Isochron's own lib folder");
  }
  target.path = found.value_or(value.scalar);
}

void SectionReader::read(const Value& value, ByteSize& target) {
  static constexpr std::pair<const char*, std::uint64_t> units[] = {
      {"KB", 1000},     {"MB", 1000'000}, {"GB", 1000'000'000}, {"KiB", 1 << 10}, {"MiB", 1 << 20},
      {"GiB", 1 << 30}, {"B", 1}};
  if (!demand_scalar(value, "a size such as 512MB")) return;
  const char* end = value.scalar.data() + value.scalar.size();
  std::uint64_t number = 0;
  const auto [stop, code] = std::from_chars(value.scalar.data(), end, number);
  const std::string_view unit(stop, static_cast<std::size_t>(end - stop));
  for (const auto& [name, factor] : units) {
    if (code != std::errc{} || unit != name) continue;
    if (number > UINT64_MAX / factor) break;
    target.bytes = number * factor;
    return;
  }
  mistake(value.place, "`" + value.scalar + "` is not a size",
          "write a whole number and B, KB, MB, GB or KiB, MiB, GiB");
}

}  // namespace isochron
