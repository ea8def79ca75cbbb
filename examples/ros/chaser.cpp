// The chase of chase.py as a node of one's own, with ROS's standard messages: the same result whatever carries them.

#include "flow/node_library.hpp"
#include "msg/ros_messages.hpp"

namespace {

using namespace isochron;
using namespace std::chrono_literals;
using geometry_msgs::PoseStamped;

class Chaser : public flow::UserNode {
 public:
  explicit Chaser(const flow::Parameters&) {}

 private:
  void push_x(double& force) {
    force = push([](const auto& p) { return p.x; }, speed_[0], last_[0]);
  }
  void push_y(double& force) {
    force = push([](const auto& p) { return p.y; }, speed_[1], last_[1]);
  }
  void push_z(double& force) {
    force = push([](const auto& p) { return p.z; }, speed_[2], last_[2]);
  }

  /// Towards the prey, braked by one's own speed.
  template <class Axis>
  double push(const Axis& axis, double& speed, double& last) {
    if (self_.empty() || prey_.empty()) return 0;
    const double here = axis(self_.latest().pose.position);
    speed = moved_ ? (here - last) / 0.01 : 0;
    last = here;
    moved_ = true;
    return axis(prey_.latest().pose.position) - here - 2 * speed;
  }

  std::array<double, 3> speed_{}, last_{-5, 0, 0};
  bool moved_ = false;
  flow::Input<PoseStamped> self_ = input<PoseStamped>("self");
  flow::Input<PoseStamped> prey_ = input<PoseStamped>("prey");
  flow::Output<double> x_ = output<&Chaser::push_x>("x", flow::every(10ms));
  flow::Output<double> y_ = output<&Chaser::push_y>("y", flow::every(10ms));
  flow::Output<double> z_ = output<&Chaser::push_z>("z", flow::every(10ms));
};

}  // namespace

ISOCHRON_NODES(isochron::flow::node_type<Chaser>("Chaser", "pushes `self` towards `prey`",
                                                 "in: self, prey; out: x, y, z, predictive, 10 ms"))
