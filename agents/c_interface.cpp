#include <cstring>
#include <deque>

#include "agents/client.hpp"
#include "agents/isochron_agents.h"
#include "core/input_error.hpp"
#include "link/resolve.hpp"

using namespace isochron;

struct isochron_agents {
  agents::Client client;
  std::string error;
  std::deque<std::string> texts;  // what pointers of the last answer point to
};

namespace {

thread_local std::string join_error;

/// Nothing is thrown across the C interface.
template <class F, class R>
R guarded(isochron_agents* client, R otherwise, F&& f) {
  try {
    return f();
  } catch (const std::exception& error) {
    (client != nullptr ? client->error : join_error) = error.what();
    return otherwise;
  }
}

agents::BodyState body_of(const double* n) {
  return {{n[0], n[1], n[2]}, {n[3], n[4], n[5], n[6]}, {n[7], n[8], n[9]}, {n[10], n[11], n[12]}};
}

void copy(const agents::BodyState& body, double* to) {
  std::memcpy(to, body.position.data(), 3 * sizeof(double));
  std::memcpy(to + 3, body.orientation.data(), 4 * sizeof(double));
  std::memcpy(to + 7, body.linear.data(), 3 * sizeof(double));
  std::memcpy(to + 10, body.angular.data(), 3 * sizeof(double));
}

const char* kept(isochron_agents& client, std::string text) {
  return client.texts.emplace_back(std::move(text)).c_str();
}

void fill(isochron_agents& client, const agents::Outsider& agent, const agents::Sample& sample, isochron_other& other) {
  other = {};
  other.name = kept(client, agent.name);
  other.type_url = kept(client, sample.state->type_url());
  other.state = kept(client, sample.state->value());
  other.size = sample.state->value().size();
  other.has_body = sample.body ? 1 : 0;
  if (sample.body) copy(*sample.body, other.body);
  other.stamp = sample.stamp.ns();
  other.age = sample.age.ns();
  other.extrapolated = sample.extrapolated ? 1 : 0;
}

}  // namespace

isochron_agents* isochron_agents_join(const char* server, const char* key, const char* name, double limit_s) {
  return guarded(nullptr, static_cast<isochron_agents*>(nullptr), [&]() -> isochron_agents* {
    const auto address = link::resolve(server);
    if (!address) throw InputError({server, 0, 0}, address.error().what);
    agents::ClientSettings settings;
    settings.server = address->front();
    settings.name = name;
    auto made = std::unique_ptr<isochron_agents>(new isochron_agents{{link::Key::parse(key, "key"), settings}, {}, {}});
    const std::string why = made->client.join(WallSpan::from_seconds(limit_s));
    if (!why.empty()) throw InputError({server, 0, 0}, "cannot join: " + why);
    return made.release();
  });
}

void isochron_agents_leave(isochron_agents* client) { delete client; }

const char* isochron_agents_error(const isochron_agents* client) {
  return client != nullptr ? client->error.c_str() : join_error.c_str();
}

int64_t isochron_agents_start(isochron_agents* client) { return client->client.start().ns(); }
int64_t isochron_agents_heartbeat(isochron_agents* client) { return client->client.heartbeat().ns(); }

int64_t isochron_agents_add(isochron_agents* client, const char* name, const char* type_url, double reach) {
  return guarded(client, int64_t{-1}, [&] {
    return static_cast<int64_t>(
        client->client.add(name, {}, type_url != nullptr ? type_url : agents::body_type_url(), reach));
  });
}

int isochron_agents_publish_body(isochron_agents* client, int64_t agent, int64_t t, const double body[13]) {
  return guarded(client, -1, [&] {
    client->client.publish(static_cast<std::uint32_t>(agent), SimTime::from_ns(t), body_of(body));
    return 0;
  });
}

int isochron_agents_publish(isochron_agents* client, int64_t agent, int64_t t, const double position[3],
                            const char* type_url, const void* state, size_t size) {
  return guarded(client, -1, [&] {
    agents::Any any;
    any.set_type_url(type_url);
    any.set_value(state, size);
    client->client.publish(static_cast<std::uint32_t>(agent), SimTime::from_ns(t),
                           {position[0], position[1], position[2]}, any);
    return 0;
  });
}

int isochron_agents_withdraw(isochron_agents* client, int64_t agent) {
  return guarded(client, -1, [&] {
    client->client.withdraw(static_cast<std::uint32_t>(agent));
    return 0;
  });
}

int isochron_agents_pass(isochron_agents* client, int64_t t, int64_t* time) {
  return guarded(client, static_cast<int>(ISOCHRON_AGENTS_OVER), [&] {
    const agents::Turn turn = client->client.pass(SimTime::from_ns(t));
    if (time != nullptr) *time = turn.time.ns();
    if (turn.kind == agents::Turn::over) client->error = turn.why;
    return static_cast<int>(turn.kind);
  });
}

int64_t isochron_agents_others(isochron_agents* client, int64_t t, isochron_other* others, int64_t room) {
  return guarded(client, int64_t{-1}, [&] {
    client->texts.clear();
    return client->client.look([&](const agents::StateCache& cache) {
      int64_t count = 0;
      cache.for_each([&](const agents::Outsider& agent) {
        if (count < room) fill(*client, agent, cache.at(agent, SimTime::from_ns(t)), others[count]);
        ++count;
      });
      return count;
    });
  });
}
