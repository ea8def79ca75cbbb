#pragma once
// A journal of two channels for tests of expectations.

#include "core/cdr.hpp"
#include "core/schema.hpp"
#include "expect/judge.hpp"

namespace isochron::expect::test {

/// On /ship: where it is.
struct Ship {
  std::array<double, 3> position{};
  std::array<double, 3> velocity{};
  bool fine = true;
  std::string what;
};
ISOCHRON_MESSAGE(Ship, "p/msg/Ship", position, velocity, fine, what)

/// On /deadlines/ship/pilot.
struct Response {
  std::int64_t response_ns = 0;
};
ISOCHRON_MESSAGE(Response, "p/msg/Response", response_ns)

struct Flat {
  std::array<double, 2> position{};
};
ISOCHRON_MESSAGE(Flat, "p/msg/Flat", position)

inline const ChannelDefinition ship{"/ship", {message_name<Ship>(), ros2msg_schema<Ship>()}, {}};
inline const ChannelDefinition buoy{"/buoy", {message_name<Ship>(), ros2msg_schema<Ship>()}, {}};
inline const ChannelDefinition pilot{
    "/deadlines/ship/pilot", {message_name<Response>(), ros2msg_schema<Response>()}, {}};

inline SimTime at_ms(std::int64_t ms) { return SimTime::from_ns(ms * 1'000'000); }

inline Expectation expectation(const std::string& text) {
  std::vector<Mistake> mistakes;
  auto read = read_expectation("it", text, {"file.yaml", 3, 10}, true, mistakes);
  if (!read) throw InputError(std::move(mistakes));
  return std::move(*read);
}

inline std::vector<Expectation> expectations(const std::vector<std::string>& texts) {
  std::vector<Expectation> all;
  for (const std::string& text : texts) all.push_back(expectation(text));
  return all;
}

}  // namespace isochron::expect::test
