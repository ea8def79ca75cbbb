// The whole-body controller as a robot program: every 6 ms, from the newest estimate to torques. Orders may come at any
// time, from a program called operator; each is answered with how the robot stands. While the robot is frozen its
// motors hold it (the program estimator sees to that), and nobody controls it.

#include "client/client.hpp"
#include "experiments/atlas/controller.hpp"

using namespace std::chrono_literals;

namespace {

class Program {
 public:
  void run() {
    while (const auto now = robot_.wait(6ms)) {
      listen(*now);
      if (frozen_ && *now >= frozen_until_) thaw();
      if (!frozen_ && any_) control(*now);
    }
    if (controller_.failures() > 0) robot_.log(std::to_string(controller_.failures()) + " times without a solution");
  }

 private:
  void listen(isochron::SimTime now) {
    while (const auto message = robot_.receive<atlas::Estimate>("estimator")) {
      estimate_ = message->value;
      any_ = true;
    }
    while (const auto message = robot_.receive<atlas::Order>("operator")) {
      order_ = message->value;
      if (!any_) continue;
      atlas::Standing standing = controller_.standing_of(now.seconds());
      standing.frozen = frozen_ ? 1 : 0;
      robot_.send("operator", standing);
    }
  }

  void control(isochron::SimTime now) {
    robot_.write("efforts",
                 controller_.control(estimate_, 1e-9 * static_cast<double>(estimate_.time_ns), order_).torque);
    const bool obeyed = controller_.standing_of(now.seconds()).obeyed == order_.number;
    if (order_.freeze <= 0 || !obeyed || froze_ == order_.number) return;
    froze_ = order_.number;
    frozen_ = true;
    frozen_until_ = now + isochron::SimSpan::from_ns(static_cast<std::int64_t>(1e9 * order_.freeze));
    robot_.send("estimator", controller_.hold());
  }

  void thaw() {
    frozen_ = false;
    robot_.send("estimator", atlas::Hold{});
  }

  atlas::Controller controller_{ATLAS_MODEL};
  isochron::Robot robot_ = isochron::attach();
  atlas::Estimate estimate_;
  atlas::Order order_;
  bool any_ = false, frozen_ = false;
  isochron::SimTime frozen_until_;
  std::uint64_t froze_ = 0;
};

}  // namespace

int main() { Program().run(); }
