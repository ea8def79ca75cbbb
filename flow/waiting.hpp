#pragma once
// The wait-for graph of a system that stands still, as data: what is printed, and what goes into a journal.

#include <string>
#include <vector>

#include "core/time.hpp"

namespace isochron::flow {

/// One node: what it waits for, at which stamp, of whom, and for how long it has not moved.
struct Waiting {
  enum class For { start, message, room, own_code, stopped, turn, end, failed, trouble };
  std::string node;
  For what = For::start;
  std::string flow;  // of a message, or for room
  SimTime at;
  std::string whom;            // who would have to move: the flow's source, its sinks; or the trouble, a sentence
  WallSpan since;              // zero = not known
  std::uint64_t promises = 0;  // that came since it last stepped
};
using WaitForGraph = std::vector<Waiting>;

const char* to_string(Waiting::For what);
/// Those that wait for nobody (in their own code, stopped, failed) first: they are what the others wait for.
void put_causes_first(WaitForGraph& graph);
/// "red waits for a message of yellow.position at 12s (from yellow), for 10.1s"
std::string to_string(const Waiting& waiting);
/// A line for each, indented.
std::string to_string(const WaitForGraph& graph);

}  // namespace isochron::flow
