#pragma once
// Turns a record's bytes into named values, by its schema alone: `position.x`, `path[2].y`, `frame`. For printing two
// records side by side, and for plotting any number in any journal.
//
// Promises: never reads beyond the bytes given; what a schema and a few bytes can make it do is bounded by their size.
// Threads:  a decoder is constant after parse(): any.
// Cost:     allocates; for reading a journal, not for writing one.

#include <functional>
#include <optional>
#include <span>
#include <variant>

#include "core/time.hpp"
#include "journal/mcap_reader.hpp"
#include "journal/ros2msg.hpp"

namespace isochron {

using Scalar = std::variant<bool, std::int64_t, std::uint64_t, double, float, std::string>;
/// As shortly as it reads back: 0.1, -3, true, "text".
std::string to_string(const Scalar& value);
/// Numbers and truth values; nothing for text.
std::optional<double> to_number(const Scalar& value);

struct NamedValue {
  std::string path;
  Scalar value;
};

class Decoder {
 public:
  /// Fails: not cdr with ros2msg, or a schema that cannot be understood.
  static Result<Decoder, std::string> make(const mcap::Channel& channel, const mcap::Schema* schema);
  explicit Decoder(MessageSchema schema) : schema_(std::move(schema)) {}

  /// Calls f for each value, in order. False: the bytes end early or are no CDR; f saw those before.
  bool each(std::span<const std::byte> bytes,
            const std::function<void(const std::string& path, Scalar value)>& f) const;

  [[nodiscard]] std::vector<NamedValue> values(std::span<const std::byte> bytes) const;
  /// The value of one field, `position.x` or `path[2].y`; nothing if there is none or it is text.
  [[nodiscard]] std::optional<double> number(std::span<const std::byte> bytes, std::string_view path) const;
  /// "x=1 y=2 …", cut off after `limit` characters.
  [[nodiscard]] std::string print(std::span<const std::byte> bytes, std::size_t limit = 400) const;

 private:
  MessageSchema schema_;
};

/// One field of one topic over time, for a plot.
struct Series {
  std::vector<SimTime> times;
  std::vector<double> values;
};
/// Fails: no such topic, no such field, or not decodable; the sentence says what there is.
Result<Series, std::string> read_series(McapReader& reader, const std::string& topic, const std::string& field,
                                        SimTime from = SimTime::zero(), SimTime to = SimTime::never());

}  // namespace isochron
