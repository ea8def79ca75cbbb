#include "bridge/fmi/values.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>

#include "core/foreign_text.hpp"
#include "core/input_error.hpp"

namespace isochron::fmi {
namespace {

constexpr std::uint64_t most_values = std::uint64_t{16} << 20U;

template <class T>
bool append_number(const std::string& word, std::vector<std::byte>& to) {
  T value{};
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (code != std::errc{} || end != word.data() + word.size()) return false;
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
  return true;
}

bool append_truth(const std::string& word, std::vector<std::byte>& to) {
  const bool yes = word == "true" || word == "1";
  to.push_back(std::byte{yes});
  return yes || word == "false" || word == "0";
}

bool append(Type type, const std::string& word, std::vector<std::byte>& to) {
  switch (type) {
    case Type::float32:
      return append_number<float>(word, to);
    case Type::float64:
      return append_number<double>(word, to);
    case Type::int8:
      return append_number<std::int8_t>(word, to);
    case Type::uint8:
      return append_number<std::uint8_t>(word, to);
    case Type::int16:
      return append_number<std::int16_t>(word, to);
    case Type::uint16:
      return append_number<std::uint16_t>(word, to);
    case Type::int32:
      return append_number<std::int32_t>(word, to);
    case Type::uint32:
      return append_number<std::uint32_t>(word, to);
    case Type::int64:
      return append_number<std::int64_t>(word, to);
    case Type::uint64:
      return append_number<std::uint64_t>(word, to);
    case Type::boolean:
      return append_truth(word, to);
    case Type::text:
    case Type::binary:
    case Type::clock:
      return false;
  }
  return false;
}

std::uint64_t length_of(const Description& description, const Variable::Dimension& dimension,
                        const GivenValues& given) {
  if (!dimension.reference) return dimension.length;
  const Variable* length = description.find(*dimension.reference);
  std::string text = length == nullptr ? "" : length->start;
  for (const auto& [name, value] : given) {
    if (length != nullptr && name == length->name) text = value;
  }
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code == std::errc{} && end == text.data() + text.size()) return number;
  throw InputError({}, "`" + (length == nullptr ? "?" : foreign_name(length->name)) + ": " + foreign_name(text) +
                           "` is no length of an array");
}

}  // namespace

std::size_t value_count(const Description& description, const Variable& variable, const GivenValues& given) {
  std::uint64_t count = 1;
  for (const Variable::Dimension& dimension : variable.dimensions) {
    const std::uint64_t length = length_of(description, dimension, given);
    if (length != 0 && count > most_values / length) {
      throw InputError({description.file, variable.line, 1},
                       "the array `" + foreign_name(variable.name) + "` has more than 16 million values");
    }
    count *= length;
  }
  return count;
}

std::vector<std::byte> parse_values(const std::string& text, const Variable& variable, std::size_t count) {
  std::vector<std::byte> values;
  std::istringstream in(text);
  std::size_t words = 0;
  for (std::string word; in >> word; ++words) {
    if (append(variable.type, word, values)) continue;
    throw InputError({}, "`" + foreign_name(variable.name) + ": " + foreign_name(text) + "` is not " +
                             (variable.type == Type::boolean ? "true or false" : message_type(variable.type)));
  }
  if (words == 1 && count > 1) {
    const std::vector<std::byte> one = values;
    while (values.size() < count * one.size()) values.insert(values.end(), one.begin(), one.end());
    words = count;
  }
  if (words == count) return values;
  throw InputError({}, "`" + foreign_name(variable.name) + "` has " + std::to_string(count) + " values, not " +
                           std::to_string(words));
}

}  // namespace isochron::fmi
