#pragma once
// A YAML file as a tree in which every value knows its place. yaml-cpp does the parsing; on top of it this is strict
// where a user would want it to be: duplicate keys, anchors and aliases, several documents and bottomless nesting are
// mistakes.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/input_error.hpp"
#include "core/nearest_name.hpp"

namespace isochron {

struct Value {
  enum class Kind { null, scalar, list, map };
  struct Entry;

  Kind kind = Kind::null;
  Place place;
  std::string scalar;
  std::vector<Value> items;    // of a list
  std::vector<Entry> entries;  // of a map, in the file's order

  [[nodiscard]] const Value* find(std::string_view key) const;
};

struct Value::Entry {
  std::string key;
  Place key_place;
  Value value;
};

/// Throws InputError; `file` is how the text is named in places.
Value parse_yaml(const std::string& text, const std::string& file);

/// Sets a value inside maps by its path, as `--set time.quantum=250us` does; maps on the way are made where missing.
/// The text is YAML itself. Throws InputError placed at `origin`.
void set_path(Value& root, std::string_view path, const std::string& text, const std::string& origin);

/// As YAML that reads back to the same tree.
std::string to_yaml(const Value& value);

}  // namespace isochron
