#pragma once
// Key and value strings for a node that is named in a scenario file, with typed access. A value that cannot be read and
// a key that nobody asked for are mistakes of the file's author and are told as such.

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "core/time.hpp"

namespace isochron::flow {

class Parameters {
 public:
  using Values = std::map<std::string, std::string, std::less<>>;
  Parameters() = default;
  explicit Parameters(Values values) : values_(std::move(values)) {}

  /// Each throws InputError if the value is there and cannot be read.
  [[nodiscard]] std::string text(std::string_view key, std::string otherwise = {}) const;
  [[nodiscard]] double number(std::string_view key, double otherwise) const;
  [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t otherwise) const;
  /// "10ms"
  [[nodiscard]] SimSpan span(std::string_view key, SimSpan otherwise) const;

  /// Throws InputError that names the keys nobody asked for.
  void require_all_used() const;
  /// What was asked for, and what it is if it is not given.
  [[nodiscard]] const std::map<std::string, std::string>& asked() const { return asked_; }
  /// For nodes that read their parameters elsewhere.
  [[nodiscard]] const Values& all() const { return values_; }
  void note_asked(const std::string& key, std::string otherwise) const { asked_.emplace(key, std::move(otherwise)); }
  void note_used(const std::string& key) const { used_.insert(key); }

 private:
  const std::string* find(std::string_view key) const;
  Values values_;
  mutable std::set<std::string, std::less<>> used_;
  mutable std::map<std::string, std::string> asked_;
};

}  // namespace isochron::flow
