// Nodes of the tests' scenarios.

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "flow/node_library.hpp"
#include "run/ros_types.hpp"

namespace {

using namespace isochron;
using namespace std::chrono_literals;

/// std_msgs/Bool comes in by, and leaves by, std_msgs_Bool.
template <class M>
std::string port() {
  std::string name = ros_types::ros1_name<M>();
  std::ranges::replace(name, '/', '_');
  return name;
}

/// Says back every standard message that it hears, 10 ms later: ros_test.py has rospy compare.
class Echo : public flow::UserNode {
 public:
  explicit Echo(const flow::Parameters&) { add(ros_types::All{}); }

 private:
  template <class M>
  using Back = std::optional<flow::Event<M>>;
  template <class... M>
  static std::tuple<Back<M>...> backs(ros_types::List<M...>);

  template <class... M>
  void add(ros_types::List<M...>) {
    (input<&Echo::heard<M>>(port<M>()), ...);
    ((std::get<Back<M>>(backs_) = event<M>(port<M>(), 10ms)), ...);
  }
  template <class M>
  void heard(const M& message, SimTime at) {
    std::get<Back<M>>(backs_)->send(at + SimSpan(10ms), message);
  }
  decltype(backs(ros_types::All{})) backs_;
};

/// So much that a network is always in the middle of one.
using Page = std::array<std::uint8_t, 200'000>;

class Talker : public flow::UserNode {
 public:
  explicit Talker(const flow::Parameters&) {}

 private:
  void fill(Page& page) { page.fill(++count_); }
  std::uint8_t count_ = 0;
  flow::Output<Page> out_ = output<&Talker::fill>("page", flow::every(10ms));
};

class Listener : public flow::UserNode {
 public:
  explicit Listener(const flow::Parameters&) {}

 private:
  void heard(const Page& page) { sum_ += page.back(); }
  void fill(double& sum) { sum = sum_; }
  double sum_ = 0;
  flow::Input<Page> in_ = input<&Listener::heard>("page");
  flow::Output<double> out_ = output<&Listener::fill>("sum", flow::every(10ms));
};

}  // namespace

ISOCHRON_NODES(isochron::flow::node_type<Echo>("Echo", "says back what it hears", "in and out: a port for each type"),
               isochron::flow::node_type<Talker>("Talker", "200 KB every 10 ms", "out: page"),
               isochron::flow::node_type<Listener>("Listener", "adds up", "in: page; out: sum"))
