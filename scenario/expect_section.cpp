#include "scenario/expect_section.hpp"

#include "expect/judge.hpp"
#include "scenario/section.hpp"

namespace isochron {
namespace {

/// The rest of a line, from a column on.
std::string_view rest_of_line(std::string_view text, int line, int column) {
  for (int i = 1; i < line; ++i) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  const auto at = static_cast<std::size_t>(column) - 1;
  return at < text.size() ? text.substr(at) : std::string_view{};
}

}  // namespace

void SectionReader::read(const Value& value, ExpectSection& target) {
  const char* hint = "as in `apart: always distance(prey, predator) > 1`";
  if (value.kind == Value::Kind::list) {
    for (const Value& item : value.items) {
      if (demand_scalar(item, "an expectation")) target.all.push_back({item.scalar, item.scalar, item.place});
    }
    return;
  }
  if (value.kind != Value::Kind::map)
    return mistake(value.place, "expectations with their names are expected here", hint);
  for (const Value::Entry& entry : value.entries) {
    check_name(entry);
    if (entry.value.kind == Value::Kind::null) {
      mistake(entry.key_place, "the expectation `" + entry.key + "` says nothing",
              "inside { } a comma ends an expectation: give each a line of its own, or quotation marks");
    } else if (demand_scalar(entry.value, "an expectation")) {
      target.all.push_back({entry.key, entry.value.scalar, entry.value.place});
    }
  }
}

void settle_places(ExpectSection& section, const std::string& file_text) {
  for (ExpectSection::One& one : section.all) {
    if (one.place.line < 1 || one.place.column < 1) continue;
    const std::string_view there = rest_of_line(file_text, one.place.line, one.place.column);
    const bool quoted = there.starts_with('"') || there.starts_with('\'');
    one.in_one_line = there.substr(quoted ? 1 : 0).starts_with(one.text);
    if (quoted && one.in_one_line) ++one.place.column;
  }
}

std::vector<expect::Expectation> read_expectations(const ExpectSection& section, std::vector<Mistake>& mistakes) {
  std::vector<expect::Expectation> all;
  for (const ExpectSection::One& one : section.all) {
    if (auto read = expect::read_expectation(one.name, one.text, one.place, one.in_one_line, mistakes)) {
      all.push_back(std::move(*read));
    }
  }
  return all;
}

}  // namespace isochron
