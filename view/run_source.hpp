#pragma once
// What the page asks of a run, whether it is on disk or under way. Answers are JSON text, or the bytes that the page
// reads as typed arrays.
//
//     about     what there is: scenario, mode, times, bodies, channels, participants, the report at the end
//     frames    where every body is, a frame each `step`: u32 bodies, u32 frames, then for each frame f64 time and
//               bodies × 7 f32 (view/poses.hpp)
//     series    one variable over time, at most `points` buckets with the least and the greatest of each kept
//     latest    the newest message of a topic not after a time: f64 time, then the message's bytes
//     fields    the names of the numbers in a topic's messages
//     events    what programs did in a window (view/program_events.hpp)
//
// Fails: a sentence that says what was asked and is not there.
// Threads: any.

#include <string>

#include "core/result.hpp"
#include "core/time.hpp"

namespace isochron::view {

struct Window {
  SimTime from = SimTime::zero();
  SimTime to = SimTime::never();
};

using Answer = Result<std::string, std::string>;

class RunSource {
 public:
  virtual ~RunSource() = default;
  virtual Answer about() = 0;
  virtual Answer frames(Window window, SimSpan step) = 0;
  /// Without a topic the field is a name of the journal (journal/names.hpp), and fields() has all of them.
  virtual Answer series(const std::string& topic, const std::string& field, Window window, std::size_t points) = 0;
  virtual Answer latest(const std::string& topic, SimTime at) = 0;
  virtual Answer schema(const std::string& topic) = 0;
  virtual Answer fields(const std::string& topic) = 0;
  virtual Answer events(Window window) = 0;
};

}  // namespace isochron::view
