#pragma once
// Where two runs part. Both journals are walked in the order (time, topic, sequence) over the channels that count in
// the digest; the first record that is not the same in both is named, with its participant and the values that differ.
//
// Promises: no difference <=> equal digests, for journals that are whole.
// Cost:     one pass; memory for the records of one instant.

#include <optional>

#include "journal/decode.hpp"

namespace isochron {

struct Difference {
  enum class Kind { value, only_in_a, only_in_b };
  struct Field {
    std::string path, a, b;
  };
  Kind kind = Kind::value;
  std::string topic;
  std::string participant;  // "" if the journal does not say
  SimTime time;
  std::uint32_t sequence = 0;
  std::string a, b;                  // each record as text; "" if it is not there
  std::vector<Field> fields;         // those that differ, at most some
  std::optional<SimTime> elsewhere;  // for a record that only one has: when the other's next on this topic is
};
/// Lines for people.
std::string to_string(const Difference& difference);

std::optional<Difference> first_difference(McapReader& a, McapReader& b);

struct Comparison {
  std::optional<Difference> first;
  std::uint64_t equal_records = 0;  // before it
  /// What the two runs were made of that is not the same: files and libraries, a sentence each.
  std::vector<std::string> made_of;
  /// What explains or limits the answer: another CPU's mathematics, dropped records, damage, cut files.
  std::vector<std::string> notes;
};
Comparison compare(McapReader& a, McapReader& b);

}  // namespace isochron
