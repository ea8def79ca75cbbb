// Bytes that a ROS node sent: whatever they are, reading them ends, and what was read writes back to the same bytes but
// for the sequence numbers of headers.

#include "core/ensure.hpp"
#include "link/ros/ros_wire.hpp"
#include "msg/ros_command_messages.hpp"

namespace {

template <class M>
void try_as(std::span<const std::byte> bytes) {
  const auto read = isochron::link::ros_read<M>(bytes);
  if (!read.ok()) return;
  std::vector<std::byte> again;
  isochron::link::ros_write(*read, again);
  ENSURE(again.size() == bytes.size(), "as many bytes come back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try_as<isochron::sensor_msgs::JointState>(bytes);
  try_as<isochron::sensor_msgs::PointCloud2>(bytes);
  try_as<isochron::nav_msgs::Path>(bytes);
  try_as<isochron::std_msgs::Float64MultiArray>(bytes);
  try_as<isochron::tf2_msgs::TFMessage>(bytes);
  return 0;
}
