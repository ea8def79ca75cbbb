#include "link/ros/ros_carrier.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "core/input_error.hpp"

namespace isochron::link {
namespace {

constexpr double round_every_s = 0.01;

/// ROS allows letters, digits and _ in names.
std::string ros_name(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return text;
}

}  // namespace

RosCarrier::RosCarrier(const std::string& federation, const std::vector<std::string>& names, std::uint32_t self,
                       const std::vector<std::uint32_t>& peers)
    : place_(names.size()) {
  const auto topic = [&](std::uint32_t member) {
    return "/isochron/f_" + ros_name(federation) + "/n_" + ros_name(names[member]);
  };
  std::vector<std::string> others;
  for (const std::uint32_t peer : peers) {
    place_[peer] = others.size();
    others.push_back(topic(peer));
  }
  try {
    port_ = RosPort::open("isochron_" + ros_name(names[self]), topic(self), others);
  } catch (const std::runtime_error& error) {
    throw InputError({"", 0, 0}, error.what(), "start `roscore`, or set ROS_MASTER_URI");
  }
}

void RosCarrier::send(std::uint32_t to, std::span<const std::byte> packet) {
  port_->send(place_[to], packet.data(), packet.size());
}

void RosCarrier::run() {
  const RosPort::Take take = [this](const void* data, std::size_t size) {
    (void)events_.packet({static_cast<const std::byte*>(data), size});
  };
  while (!stop_.load(std::memory_order_relaxed)) {
    port_->receive(round_every_s, take);
    events_.round();
  }
  stop_.store(false);
}

}  // namespace isochron::link
