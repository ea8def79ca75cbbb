#pragma once
// Where everything is at one moment, as the page wants it: seven floats for each body (x y z, then the quaternion
// x y z w), read from a tf2_msgs/msg/TFMessage without making one. A journal of nodes has no /tf; its flows that carry
// a position are followed instead, so that planets and UAVs are seen too.
//
// Promises: never reads beyond the bytes given.
// Cost:     read_transforms allocates for new names only.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "journal/decode.hpp"

namespace isochron::view {

struct Poses {
  static constexpr std::size_t floats_per_body = 7;
  std::vector<std::string> names;
  std::vector<float> values;  // floats_per_body each
};

inline constexpr const char* transforms_topic = "/tf";

/// False: not such a message; `poses` is then as far as it made sense.
bool read_transforms(std::span<const std::byte> bytes, Poses& poses);

/// A channel whose messages have a field `position` of two or three numbers; nothing if they have not.
class PositionReader {
 public:
  static std::optional<PositionReader> make(const mcap::Channel& channel, const mcap::Schema* schema);
  /// The position goes to place[0..2]; false: not understood.
  bool read(std::span<const std::byte> bytes, float* place) const;

 private:
  explicit PositionReader(Decoder decoder) : decoder_(std::move(decoder)) {}
  Decoder decoder_;
};

}  // namespace isochron::view
