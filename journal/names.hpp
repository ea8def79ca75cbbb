#pragma once
// What the numbers in a journal are called: the one place that decides it, for plots, exports, expectations and Python
// alike. A name is made from the topic, its schema and what the channel says about itself:
//
//     prey.position.x               of a body, joint, actuator or sensor of the world: /world/state says whose each is
//     car03.speed                   /vehicles/car03, field speed
//     predator/planner.response     /deadlines/… or /turns/…, field response_ns: the unit is no part of the name
//     prey/imu.angular_velocity.z   any other topic without its first /, then the field
//     car07.position.x              of an agent: an element that is known by its text field `name`
//     drift                         /isochron/drift, in seconds as all times
//     /world/state:bodies[26]       topic and field as they stand in the file; always understood
//
// A channel's metadata may say what the elements of an array are called (see names_metadata below), one name for each
// element, or one for each group of elements with the parts of a group.
//
// Promises: a name stands for one number. Of two channels that claim the same name the first has it, and the other one
//           is known by its whole topic.
// Threads:  owner thread.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "journal/field_reader.hpp"
#include "journal/mcap_format.hpp"
#include "journal/quantity.hpp"

namespace isochron {

struct ChannelDefinition;

namespace names_metadata {
/// names_of + FIELD: what its elements, or groups of elements, are called, a line each; an empty line is no name.
inline constexpr const char* names_of = "isochron.names.";
/// parts_of + FIELD: the elements of one group, a line each.
inline constexpr const char* parts_of = "isochron.parts.";
}  // namespace names_metadata

/// One number of a journal, or one text. How to read it: Names::reader().
struct NamedNumber {
  /// As it stands in the record, or made from several records.
  enum class Made { as_recorded, turn_response };
  std::string name;
  std::string topic;
  std::size_t channel = 0;  // as it was added
  FieldWay way;
  Quantity quantity = Quantity::number;
  double scale = 1;  // 1e-9 for nanoseconds
  Made made = Made::as_recorded;
};

/// Reads a NamedNumber from the records of its channel, in their order.
class NumberReader {
 public:
  NumberReader(FieldReader field, const NamedNumber& number) : field_(std::move(field)), number_(number) {}
  /// Requires for Made::turn_response: the fields of a turn.
  NumberReader(FieldReader field, const NamedNumber& number, FieldReader from, FieldReader preempted)
      : field_(std::move(field)), number_(number), from_(std::move(from)), preempted_(std::move(preempted)) {}

  /// Nothing: this record says nothing about it.
  std::optional<double> number(std::span<const std::byte> record);
  [[nodiscard]] std::optional<std::string_view> text(std::span<const std::byte> record) const {
    return field_.text(record);
  }

 private:
  FieldReader field_;
  NamedNumber number_;
  std::optional<FieldReader> from_, preempted_;
  std::optional<double> since_;  // when the program was ready, while it is preempted
};

class Names {
 public:
  /// Channels that cannot be decoded have no names. `channel` is any number that tells them apart.
  void add(std::size_t channel, const ChannelDefinition& definition);
  void add(std::size_t channel, const mcap::Channel& described, const mcap::Schema* schema);

  /// Whether names of this channel stand in its records, as those of agents do.
  [[nodiscard]] bool names_are_in_records(std::size_t channel) const;
  /// Takes names from a record; true: there were new ones.
  bool learn(std::size_t channel, std::span<const std::byte> record);

  [[nodiscard]] std::optional<NamedNumber> find(std::string_view name) const;
  /// The way back: what topic:field is called, or itself where it has no name of its own.
  [[nodiscard]] std::string name_of(const std::string& topic_and_field) const;
  /// Requires: a number that find() gave.
  [[nodiscard]] NumberReader reader(const NamedNumber& number) const;
  /// All that have a name of their own, sorted; of arrays of any length the first element.
  [[nodiscard]] std::vector<std::string> all() const;
  /// The same without those that are text.
  [[nodiscard]] std::vector<std::string> numbers() const;
  /// "did you mean `prey.position.x`?"
  [[nodiscard]] std::string hint(std::string_view name) const;

 private:
  struct ChannelNames {
    std::string topic;
    std::string prefix;  // of its names: "car03."
    mcap::TextMap metadata;
    std::shared_ptr<const MessageSchema> schema;
  };
  /// Elements of an array that are known by their name: `*.position.x`.
  struct Keyed {
    std::size_t channel;
    FieldWay array;
    std::size_t key_field;
    std::vector<NamedNumber> leaves;  // their names begin behind the key
    std::set<std::string> known;
  };
  class Lister;

  void add(std::size_t channel, std::string topic, const std::string& schema_name, const std::string& schema_text,
           const mcap::TextMap& metadata);
  void claim(NamedNumber number, const std::string& whole_name);
  [[nodiscard]] std::optional<NamedNumber> find_field(std::string_view topic, std::string_view path) const;
  [[nodiscard]] Quantity quantity_of(std::size_t channel, const FieldWay& way) const;

  std::map<std::size_t, ChannelNames> channels_;
  std::map<std::string, NamedNumber, std::less<>> numbers_;
  std::map<std::string, std::string, std::less<>> aliases_;  // position[0] for position.x
  std::vector<Keyed> keyed_;
};

/// The parts of a body in world::WorldState::bodies.
[[nodiscard]] const std::vector<std::string>& body_parts();

/// Metadata for an array whose elements are called so.
void name_elements(mcap::TextMap& metadata, const std::string& field, const std::vector<std::string>& names,
                   const std::vector<std::string>& parts = {});

}  // namespace isochron
