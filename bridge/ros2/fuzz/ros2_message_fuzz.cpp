// Bytes that came from the network as a message of each type of the catalogue: what the checker accepts can be read.
// Also the announcements of nodes, and .msg definitions.

#include "bridge/ros2/checker.hpp"
#include "bridge/ros2/discovery.hpp"
#include "bridge/ros2/types.hpp"
#include "core/cdr.hpp"
#include "core/ensure.hpp"
#include "journal/decode.hpp"
#include "msg/ros_command_messages.hpp"
#include "msg/ros_service_messages.hpp"

namespace {

using namespace isochron;

struct Kind {
  ros2::Checker checker;
  Decoder decoder;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    std::vector<Kind> made;
    const ros2::Types types;
    for (const std::string& name : types.names()) {
      auto schema = parse_ros2msg(name, types.definition(name));
      ENSURE(schema.ok(), "the catalogue is in order");
      made.push_back({ros2::Checker(*schema), Decoder(*schema)});
    }
    return made;
  }();
  return all;
}

template <class M>
void typed(std::span<const std::byte> cdr) {
  static const ros2::Checker checker(*parse_ros2msg(message_name<M>(), ros2msg_schema<M>()));
  const bool fits = *checker.refuses(cdr) == '\0';
  const bool read = cdr_read<M>(cdr).ok();
  ENSURE(!fits || read, "what the checker accepts can be read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  const Kind& kind = kinds()[data[0] % kinds().size()];
  if (*kind.checker.refuses(bytes) == '\0') ENSURE(kind.decoder.each(bytes, [](auto&&...) {}), "it can be decoded");
  typed<nav_msgs::Path>(bytes);
  typed<sensor_msgs::PointCloud2>(bytes);
  typed<tf2_msgs::TFMessage>(bytes);
  typed<sensor_msgs::CameraInfo>(bytes);
  typed<rcl_interfaces::SetParametersRequest>(bytes);
  (void)ros2::participant_from_cdr(bytes);
  (void)parse_ros2msg("a/msg/B", {reinterpret_cast<const char*>(data), size});
  return 0;
}
