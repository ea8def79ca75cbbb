#pragma once
// Packets over ROS 1. Every member has a topic, /isochron/<federation>/<member>, that it subscribes to and its peers
// publish on; the master (ROS_MASTER_URI) brings them together, and is not needed any more once they are.
//
// Threads: owner thread. Fails: throws InputError if there is no master.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "link/carrier.hpp"
#include "link/ros/ros_port.hpp"

namespace isochron::link {

class RosCarrier final : public Carrier {
 public:
  RosCarrier(const std::string& federation, const std::vector<std::string>& names, std::uint32_t self,
             const std::vector<std::uint32_t>& peers);

  void start(Events events) override { events_ = std::move(events); }
  void send(std::uint32_t to, std::span<const std::byte> packet) override;
  void run() override;
  void stop() override { stop_.store(true); }

 private:
  std::vector<std::size_t> place_;  // by member: among the port's other topics
  std::unique_ptr<RosPort> port_;
  Events events_;
  std::atomic<bool> stop_{false};
};

}  // namespace isochron::link
