#pragma once
// How a piece of a scenario file becomes a struct, said once for each struct:
//
//     struct WorldSection : Section { FilePath model; SimSpan step = 10ms; };
//     template <class V> void describe(V& v, WorldSection& w) {
//       v.required("model", w.model, "the model, MJCF or URDF");
//       v.optional("step", w.step, "time between two states");
//     }
//
// A SectionReader fills the struct from a Value and collects mistakes; a SectionWriter (reference.cpp) walks the same
// description to write the scenario reference and a JSON Schema, so that neither can lag behind the loader.

#include <array>
#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/input_error.hpp"
#include "core/rate.hpp"
#include "core/time_text.hpp"
#include "scenario/value.hpp"

namespace isochron {

/// What every section remembers: where it stood, and where each of its keys stood.
struct Section {
  Place place;
  std::map<std::string, Place, std::less<>> key_places;

  /// The place of a key, or of the section where the key was left out.
  [[nodiscard]] const Place& place_of(std::string_view key) const {
    const auto found = key_places.find(key);
    return found == key_places.end() ? place : found->second;
  }
};

/// A file named in a scenario: found next to the scenario file, and it must be there.
struct FilePath {
  std::string path;  // as it can be opened
  [[nodiscard]] bool empty() const { return path.empty(); }
};

/// A shared library named in a scenario; see find_file.hpp for where it is looked for.
struct LibraryPath {
  std::string path;
  [[nodiscard]] bool empty() const { return path.empty(); }
};

/// Bytes: "64MB", "512KiB".
struct ByteSize {
  std::uint64_t bytes = 0;
};

/// A map whose keys are names chosen by the user, in the file's order: the declared order that breaks ties.
template <class T>
using Named = std::vector<std::pair<std::string, T>>;

/// An enum that appears in scenarios specialises this with its words, in the order of its values.
template <class E>
struct Words;

/// A type of its own that is written as one word or number: T::parse(text) gives a Result<T, std::string>.
template <class T>
concept TextValue = requires(const std::string& text) {
  { T::parse(text) } -> std::same_as<Result<T, std::string>>;
  { T::expected } -> std::convertible_to<const char*>;
};

struct PolicySection;
struct VariableTexts;
struct ExpectSection;

class SectionReader {
 public:
  SectionReader(const Value& value, std::string folder, std::vector<Mistake>& mistakes)
      : value_(value), folder_(std::move(folder)), mistakes_(mistakes) {}

  template <class T>
  void required(const char* key, T& target, const char* doc) {
    if (!read_key(key, target)) mistake(value_.place, std::string("`") + key + "` is missing", doc);
  }
  template <class T>
  void optional(const char* key, T& target, const char*) {
    read_key(key, target);
  }
  /// Call last: refuses keys that nobody asked for, and remembers where the others stood.
  void finish(Section& section);

 private:
  template <class T>
  bool read_key(const char* key, T& target) {
    known_.emplace_back(key);
    if (value_.kind != Value::Kind::map) return value_.kind != Value::Kind::null;  // finish() says it
    for (const Value::Entry& entry : value_.entries) {
      if (entry.key != key) continue;
      if (entry.value.kind == Value::Kind::null) return false;
      read(entry.value, target);
      return true;
    }
    return false;
  }

  void read(const Value& value, std::string& target);
  void read(const Value& value, bool& target);
  void read(const Value& value, double& target);
  void read(const Value& value, std::uint64_t& target);
  void read(const Value& value, std::uint32_t& target);
  void read(const Value& value, int& target);
  void read(const Value& value, SimSpan& target);
  void read(const Value& value, WallSpan& target);
  void read(const Value& value, Fraction& target);
  void read(const Value& value, FilePath& target);
  void read(const Value& value, LibraryPath& target);
  void read(const Value& value, ByteSize& target);
  void read(const Value& value, PolicySection& target);  // policy_section.cpp
  void read(const Value& value, VariableTexts& target);  // fmu_section.cpp
  void read(const Value& value, ExpectSection& target);  // expect_section.cpp

  template <class T>
  void read(const Value& value, std::optional<T>& target) {
    read(value, target.emplace());
  }
  template <class T>
  void read(const Value& value, std::vector<T>& target) {
    if (value.kind != Value::Kind::list) return mistake(value.place, "a list is expected here", "write [a, b]");
    target.clear();  // what is given takes the place of the default
    for (const Value& item : value.items) read(item, target.emplace_back());
  }
  template <class T, std::size_t n>
  void read(const Value& value, std::array<T, n>& target) {
    if (value.kind != Value::Kind::list || value.items.size() != n) {
      return mistake(value.place, "a list of " + std::to_string(n) + " numbers is expected here", "");
    }
    for (std::size_t i = 0; i < n; ++i) read(value.items[i], target[i]);
  }
  template <class T>
  void read(const Value& value, Named<T>& target) {
    if (value.kind != Value::Kind::map) return mistake(value.place, "names with their values are expected here", "");
    for (const Value::Entry& entry : value.entries) {
      check_name(entry);
      auto& [name, element] = target.emplace_back(entry.key, T{});
      read(entry.value, element);
    }
  }
  template <TextValue T>
  void read(const Value& value, T& target) {
    if (!demand_scalar(value, T::expected)) return;
    const auto parsed = T::parse(value.scalar);
    if (!parsed) return mistake(value.place, parsed.error(), "");
    target = *parsed;
  }
  template <class E>
  requires std::is_enum_v<E>
  void read(const Value& value, E& target) {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < Words<E>::list.size(); ++i) {
      known.emplace_back(Words<E>::list[i]);
      if (value.kind == Value::Kind::scalar && value.scalar == Words<E>::list[i]) {
        target = static_cast<E>(i);
        return;
      }
    }
    mistake(value.place, "`" + value.scalar + "` is not one of the words for this", nearest_hint(value.scalar, known));
  }
  template <class S>
  requires std::is_base_of_v<Section, S>
  void read(const Value& value, S& target) {
    SectionReader inner(value, folder_, mistakes_);
    if constexpr (requires { from_word(target, std::string()); }) {
      // Some sections have a short form: one word instead of a map.
      if (value.kind == Value::Kind::scalar && from_word(target, value.scalar)) {
        target.place = value.place;
        return;
      }
    }
    if constexpr (requires { list_form(target); }) {
      // Others are mostly a list.
      if (value.kind == Value::Kind::list) {
        target.place = value.place;
        return read(value, list_form(target));
      }
    }
    describe(inner, target);
    inner.finish(target);
  }

  template <class T>
  void read_whole(const Value& value, T& target);
  bool demand_scalar(const Value& value, const char* what);
  void check_name(const Value::Entry& entry);
  void mistake(const Place& place, std::string what, std::string hint) {
    mistakes_.push_back({place, std::move(what), std::move(hint)});
  }

  const Value& value_;
  std::string folder_;
  std::vector<Mistake>& mistakes_;
  std::vector<std::string> known_;
};

/// Fills a whole section from a tree. Mistakes are appended.
template <class S>
void read_section(const Value& value, const std::string& folder, S& section, std::vector<Mistake>& mistakes) {
  SectionReader reader(value, folder, mistakes);
  describe(reader, section);
  reader.finish(section);
}

}  // namespace isochron
