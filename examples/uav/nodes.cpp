// The parts of the quadrotor as a library that scenario files can name.

#include "examples/uav/uav.hpp"

using isochron::flow::node_type;

ISOCHRON_NODES(node_type<uav::WindNode>("Wind", "gusts; parameters mean, seed", "out: wind, predictive, 50 ms"),
               node_type<uav::Dynamics>("Dynamics", "a quadrotor's body",
                                        "in: command, wind; out: state, predictive, 2 ms"),
               node_type<uav::Gps>("Gps", "position with noise; parameters noise, seed",
                                   "in: state; out: fix, observation, 20 ms"),
               node_type<uav::Imu>("Imu", "attitude", "in: state; out: attitude, observation, 4 ms"),
               node_type<uav::Controller>("Controller", "flies to the goal",
                                          "in: fix, attitude, goal; out: command, predictive, 5 ms"),
               node_type<uav::Mission>("Mission", "flies a square", "in: fix; out: goal, event, lookahead 1 ms"))
