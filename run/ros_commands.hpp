#pragma once
// What a message of any type does to the world: which of its numbers go to which variables. Found once, by the
// message's definition; then read from each message that comes.
//
// Fails: making it throws InputError at the key that is wrong. A message whose numbers do not fit is refused with why.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "journal/decode.hpp"
#include "journal/field_reader.hpp"
#include "run/world_nodes.hpp"
#include "scenario/ros_section.hpp"

namespace isochron {

class RosCommands {
 public:
  using Write = std::function<void(std::uint32_t variable, std::span<const double> values)>;

  RosCommands(const RosSubscribeSection& section, const MessageSchema& schema, WorldPlant* plant);
  /// Writes all of it, or nothing.
  Result<Done, std::string> act(std::span<const std::byte> cdr, const Write& write);

 private:
  struct Drive {
    std::uint32_t variable;
    std::string name;
    struct Part {
      std::string field;
      FieldReader reader;
      double gain;
    };
    std::vector<Part> parts;
  };
  struct Whole {
    std::uint32_t variable;
    std::string name;
    std::size_t takes;
  };
  void add_drive(const RosDriveSection& section, WorldPlant* plant);

  std::shared_ptr<const MessageSchema> schema_;
  Decoder decoder_;
  std::vector<Drive> drives_;
  std::optional<Whole> whole_;
  std::vector<double> values_;
};

}  // namespace isochron
