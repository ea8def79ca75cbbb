#pragma once
// What a page or a script may want of a run under way, as JSON:
//
//     {"do": "pause"} {"do": "resume"} {"do": "stop"} {"do": "step", "count": 1} {"do": "speed", "factor": 0.5}
//     {"do": "marker", "text": "here"}                      a note in the journal
//     {"do": "push", "body": "prey", "force": [0, 0, 5], "seconds": 0.2}
//     {"do": "set", "actuator": "arm/elbow", "value": 0.5}  what the actuator is told, until somebody tells it
//     otherwise
//     {"do": "fault", "what": "blind" | "cut" | "delay", "about": "car02/ahead", "seconds": 1}
//
// Threads: any.

#include <string_view>

#include "run/run.hpp"

namespace isochron::view {

enum class Granted { no, yes, steps };

/// No: not such a wish. What names something that is not there is granted and does nothing.
Granted grant(std::string_view wish, RunWatch& watch);

}  // namespace isochron::view
