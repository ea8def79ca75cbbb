#pragma once
// The nodes and topologies that flows are measured with: cells of 64 B messages, each step of 1 ms.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "flow/system.hpp"
#include "flow/user_node.hpp"

namespace isochron::bench {

struct Message64 {
  std::array<double, 8> values{};
};

struct Unwatched {
  static void stepped() {}
};

/// Hears any number of others each step, tells something. `Watch::stepped()` is called at each step.
template <class Watch = Unwatched>
class BasicCell : public flow::UserNode {
 public:
  explicit BasicCell(std::uint32_t inputs, std::uint32_t capacity = 4)
      : out_(output<&BasicCell::fill>("out", flow::every(std::chrono::milliseconds(1)), capacity)) {
    for (std::uint32_t i = 0; i < inputs; ++i) inputs_.push_back(input<&BasicCell::got>("in" + std::to_string(i)));
  }

 private:
  void got(const Message64& message) { sum_ += message.values[0]; }
  void fill(Message64& message) {
    message.values[0] = sum_ * 0.5 + 1, sum_ = 0;
    Watch::stepped();
  }
  double sum_ = 0;
  std::vector<flow::Input<Message64>> inputs_;
  flow::Output<Message64> out_;
};

using Cell = BasicCell<>;

/// Every node sends to all others. `C` is made with the number of its inputs.
template <class C = Cell>
flow::System all_to_all(std::uint32_t n) {
  flow::System system;
  for (std::uint32_t i = 0; i < n; ++i) system.add<C>("n" + std::to_string(i), n - 1);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0, port = 0; j < n; ++j) {
      if (j != i) system.connect(flow::PortRef{j, 0}, {i, port++});
    }
  }
  return system;
}

}  // namespace isochron::bench
