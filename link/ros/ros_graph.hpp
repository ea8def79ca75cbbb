#pragma once
// This process as a node among ordinary ROS nodes: topics with standard types, whose bytes are made elsewhere
// (ros_wire.hpp), services without arguments, and /clock. Like ros_port.hpp it is C++17 and knows nothing of the rest.
//
// Threads: any; what arrives comes on a thread of its own, so that a service is answered while the run stands still.
// Fails:   throws std::runtime_error if there is no master or a type is not known.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace isochron::link {

class RosGraph {
 public:
  using Take = std::function<void(const void* data, std::size_t size)>;
  /// What a service answers: std_srvs/Trigger.
  struct Answer {
    bool success = true;
    std::string message;
  };
  using Serve = std::function<Answer()>;

  /// The types it can speak, as in sensor_msgs/Imu.
  static std::vector<std::string> types();
  /// With `simulated_time` it tells the master's parameters that /clock is the time.
  static std::unique_ptr<RosGraph> open(const std::string& node, bool simulated_time);
  virtual ~RosGraph() = default;

  virtual std::size_t advertise(const std::string& topic, const std::string& type) = 0;
  virtual void publish(std::size_t topic, const void* data, std::size_t size) = 0;
  virtual std::size_t subscribe(const std::string& topic, const std::string& type, Take take) = 0;
  virtual void serve(const std::string& service, Serve serve) = 0;
  virtual void clock(std::int64_t ns) = 0;
  /// Who is at the other end: of an advertised topic, of a subscribed one.
  virtual unsigned listeners(std::size_t advertised) const = 0;
  virtual unsigned speakers(std::size_t subscribed) const = 0;
};

}  // namespace isochron::link
