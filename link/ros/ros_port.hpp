#pragma once
// The part of the ROS carrier that speaks to roscpp. Its generated messages do not compile as C++20, so this is C++17
// and knows nothing of the rest of Isochron.
//
// Threads: owner thread; roscpp has its own for receiving.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace isochron::link {

class RosPort {
 public:
  /// Subscribes to one topic and advertises on others. Throws std::runtime_error if there is no master.
  static std::unique_ptr<RosPort> open(const std::string& node, const std::string& own_topic,
                                       const std::vector<std::string>& other_topics);
  virtual ~RosPort() = default;
  virtual void send(std::size_t to, const void* data, std::size_t size) = 0;
  using Take = std::function<void(const void* data, std::size_t size)>;
  /// Hands over all that came; waits up to so long for the first.
  virtual bool receive(double longest_s, const Take& take) = 0;
};

}  // namespace isochron::link
