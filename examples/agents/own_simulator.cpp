// A simulator of one's own in a world of agents: one car on a circle, which looks at everybody else's. Run several,
// with different names, around one `isochron serve agents`:
//
//     own_simulator SERVER:PORT KEYFILE NAME
#include <cmath>
#include <cstdio>

#include "agents/client.hpp"
#include "link/resolve.hpp"

using namespace isochron;
using namespace std::chrono_literals;

int main(int, char** words) try {
  agents::ClientSettings settings;
  settings.server = link::resolve(words[1])->front();
  settings.name = words[3];
  agents::Client client(link::Key::from_file(words[2]), settings);
  if (const std::string why = client.join(30s); !why.empty()) {
    std::fprintf(stderr, "%s\n", why.c_str());
    return 1;
  }
  const auto car = client.add(settings.name + "_car", {}, agents::body_type_url());
  std::uint64_t seen = 0;
  for (SimTime t = client.start(); t < SimTime::zero() + SimSpan(2s);) {
    agents::BodyState state;
    state.position = {20 * std::cos(t.seconds()), 20 * std::sin(t.seconds()), 0};
    state.linear = {-20 * std::sin(t.seconds()), 20 * std::cos(t.seconds()), 0};
    client.publish(car, t, state);             // or any protobuf message
    const agents::Turn turn = client.pass(t);  // sends; waits for the slowest
    if (turn.kind == agents::Turn::over) break;
    if (turn.kind == agents::Turn::begin_at) {  // the world went on without us: from here, then
      t = turn.time;
      continue;
    }
    client.look([&](const agents::StateCache& others) {
      others.for_each([&](const agents::Outsider& other) {
        const agents::Sample sample = others.at(other, t);
        if (sample.body && sample.age <= 2 * client.heartbeat()) ++seen;
      });
    });
    t += client.heartbeat();
  }
  std::printf("%s saw others %llu times\n", settings.name.c_str(), static_cast<unsigned long long>(seen));
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
