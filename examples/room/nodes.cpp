// A room and its heater: two nodes of one's own in a library that scenario files can name.

#include "flow/node_library.hpp"

namespace {

using namespace isochron;
using namespace std::chrono_literals;

struct Temperature {
  double degrees = 0;
};
struct Power {
  double watts = 0;
};
ISOCHRON_MESSAGE(Temperature, "example_msgs/msg/Temperature", degrees)
ISOCHRON_MESSAGE(Power, "example_msgs/msg/Power", watts)

class Room : public flow::UserNode {
 public:
  explicit Room(const flow::Parameters& parameters)
      : degrees_(parameters.number("degrees", 15)), outside_(parameters.number("outside", 5)) {}

 private:
  void step(Temperature& out) {  // called every 100 ms
    degrees_ += 1e-4 * heat_.latest_or({}).watts - 1e-3 * (degrees_ - outside_);
    out.degrees = degrees_;
  }
  double degrees_, outside_;
  flow::Input<Power> heat_ = input<Power>("heat");  // the latest message, always at hand
  flow::Output<Temperature> out_ = output<&Room::step>("temperature", flow::every(100ms));
};

class Heater : public flow::UserNode {
 public:
  explicit Heater(const flow::Parameters& parameters) : wanted_(parameters.number("wanted", 20)) {}

 private:
  void heard(const Temperature& room) { on_ = room.degrees < wanted_; }  // called for each message
  void step(Power& out) { out.watts = on_ ? 500 : 0; }
  double wanted_;
  bool on_ = false;
  flow::Input<Temperature> room_ = input<&Heater::heard>("room");
  flow::Output<Power> out_ = output<&Heater::step>("heat", flow::every(1s));
};

}  // namespace

ISOCHRON_NODES(isochron::flow::node_type<Room>("Room", "cools down; parameters degrees, outside",
                                               "in: heat; out: temperature, predictive, 100 ms"),
               isochron::flow::node_type<Heater>("Heater", "on below `wanted`", "in: room; out: heat, predictive, 1 s"))
