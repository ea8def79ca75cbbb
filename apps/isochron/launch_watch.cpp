#include "apps/isochron/launch_watch.hpp"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "apps/isochron/terminal.hpp"

namespace isochron::app {

Ports::~Ports() {
  for (const int socket : sockets_) close(socket);
}

std::string Ports::take() {
  const int end = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(end, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (end < 0 || bind(end, generic, size) != 0 || getsockname(end, generic, &size) != 0) {
    throw std::runtime_error(std::string("no free port on this machine: ") + std::strerror(errno));
  }
  sockets_.push_back(end);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

namespace {
/// All who lost somebody notice it within this.
std::chrono::nanoseconds grace_of(WallSpan lost_after) {
  using namespace std::chrono_literals;
  return std::clamp<std::chrono::nanoseconds>(std::chrono::nanoseconds(lost_after.ns() / 2), 1s, 5s);
}
}  // namespace

LaunchWatch::LaunchWatch(const LaunchFlags& flags, LaunchedRun& run, std::vector<NodePlace> places,
                         Addresses& addresses, Ports& ports)
    : flags_(flags),
      run_(run),
      places_(std::move(places)),
      addresses_(addresses),
      ports_(ports),
      patience_(run.scenario.network.lost_after.ns() + std::chrono::nanoseconds(std::chrono::seconds(5)).count()),
      nodes_(places_.size()),
      lives_(places_.size()),
      accusations_(grace_of(run.scenario.network.lost_after)) {}

void LaunchWatch::run() {
  began_ = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < places_.size(); ++i) start(i);
  StatusLine line;
  while (watch_once()) {
    const auto running = std::ranges::count_if(nodes_, [](const auto& node) { return !node->ended(); });
    line.show(std::to_string(running) + " of " + std::to_string(nodes_.size()) + " nodes run");
  }
  for (const auto& node : nodes_) node->pass_on();
}

void LaunchWatch::start(std::size_t node) {
  std::optional<LaunchTerms> terms;
  lives_[node].since = std::chrono::steady_clock::now();
  if (run_.scenario.network.restarts > 0) {
    const std::chrono::nanoseconds behind =
        lives_[node].number == 0 ? Time::duration::zero() : lives_[node].since - began_;
    terms = {run_.word, lives_[node].number, WallSpan::from_ns(behind.count())};
  }
  nodes_[node] = std::make_unique<NodeProcess>(flags_, places_[node], run_, terms);
}

/// False once all have ended.
bool LaunchWatch::watch_once() {
  std::vector<pollfd> polls;
  for (const auto& node : nodes_) {
    node->pass_on();
    polls.push_back({node->complaints(), POLLIN, 0});  // -1 once it has nothing more to say: not waited for
  }
  if (run_.scenario.network.restarts > 0) {
    look_for_missing();
    look_for_lost();
    tell_the_end();
  }
  end_what_failed();
  if (std::ranges::all_of(nodes_, [](const auto& node) { return node->ended(); })) return false;
  poll(polls.data(), polls.size(), 50);
  return true;
}

/// Who is not heard of by the others may run on behind a network that is gone. It must not come back when another one
/// has its place.
void LaunchWatch::look_for_missing() {
  const Time now = std::chrono::steady_clock::now();
  for (std::size_t witness = 0; witness < nodes_.size(); ++witness) {
    for (const std::string& name : nodes_[witness]->take_missing()) {
      const auto found = std::ranges::find(nodes_, name, [](const auto& node) { return node->name(); });
      if (found == nodes_.end() || (*found)->ended()) continue;
      const auto missing = static_cast<std::size_t>(found - nodes_.begin());
      const bool of_this_life = (now - lives_[missing].since).count() > run_.scenario.network.lost_after.ns();
      if (of_this_life) accusations_.say(witness, missing, now);
    }
    if (nodes_[witness]->ended()) accusations_.forget(witness);
  }
  std::vector<std::string> hosts;
  for (const NodePlace& place : places_) hosts.push_back(place.host);
  for (const std::size_t lost : accusations_.judge(hosts, now)) nodes_[lost]->kill();
}

void LaunchWatch::look_for_lost() {
  if (over_ || kill_at_ != Time::max() || InterruptGuard::count() > 0) return;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i]->ended() || nodes_[i]->well()) continue;
    nodes_[i]->pass_on();  // the last that it said
    const bool unlucky_again = lives_[i].number > 0 && nodes_[i]->never_began();
    const bool may_be = restarts_.size() < run_.scenario.network.restarts;
    if (!nodes_[i]->lost() && !unlucky_again) return give_up(i, nodes_[i]->report().value("why", ""));
    if (!may_be) return give_up(i, nodes_[i]->why() + too_often());
    start_again(i);
  }
}

std::string LaunchWatch::too_often() const {
  const std::size_t times = restarts_.size();
  return "; nodes were started again " + (times == 1 ? "once" : std::to_string(times) + " times") +
         " in this run, and no more than that was allowed";
}

void LaunchWatch::start_again(std::size_t node) {
  NodePlace& place = places_[node];
  const std::string why = nodes_[node]->why();
  settle(place);
  const std::chrono::duration<double> after = std::chrono::steady_clock::now() - began_;
  restarts_.push_back({place.name, why, place.host, after.count()});
  say("node " + place.name + " was lost: " + why + "; it is started again" +
      (place.host.empty() ? "" : " on " + place.host) + " (" + std::to_string(restarts_.size()) + " of " +
      std::to_string(run_.scenario.network.restarts) + ")\n");
  nodes_[node]->forget_files(true);
  lost_.push_back(std::move(nodes_[node]));
  ++lives_[node].number;
  start(node);
  const auto known = run_.places.find(place.name);
  tell_all(line_again(
      {place.name, known == run_.places.end() ? to_string(place.address) : known->second, lives_[node].number}));
}

/// Where it will be.
void LaunchWatch::settle(NodePlace& place) {
  if (place.host.empty()) {
    if (!place.said) run_.places[place.name] = ports_.take();
    return;
  }
  if (run_.hosts.empty()) return;
  const auto here = std::ranges::find(run_.hosts, place.host, &Host::name);
  const bool last = here == run_.hosts.end() || here + 1 == run_.hosts.end();
  const Host& next = last ? run_.hosts.front() : *(here + 1);
  place.host = next.name;
  run_.places[place.name] = addresses_.on(next);
  stagings_.push_back(std::make_unique<Staging>(flags_, run_.scenario, std::vector{place}, run_.word));
  if (const std::string file = stagings_.back()->scenario_on(place.host); !file.empty()) run_.staged[place.host] = file;
}

/// The others would wait for it.
void LaunchWatch::give_up(std::size_t node, const std::string& why) {
  tell_all(line_given_up({nodes_[node]->name(), why}));
  tell_all(line_over());
  over_ = true;
}

/// Those that have finished may go when nobody can be lost any more.
void LaunchWatch::tell_the_end() {
  const auto done = [](const auto& node) { return node->ended() || node->finished(); };
  if (over_ || !std::ranges::all_of(nodes_, done)) return;
  over_ = true;
  tell_all(line_over());
}

void LaunchWatch::tell_all(const std::string& line) const {
  for (const auto& node : nodes_) node->tell(line);
}

/// Who does not end by itself within `patience_` is told to stop, and killed if it has not after as long again. Nobody
/// notices one that never began: then all stop at once.
void LaunchWatch::end_what_failed() {
  const auto now = std::chrono::steady_clock::now();
  const auto kill = [this] {
    for (const auto& node : nodes_) node->kill();
  };
  for (; interrupts_ < InterruptGuard::count(); ++interrupts_) interrupts_ == 0 ? stop() : kill();
  if (now > kill_at_) kill();
  if (kill_at_ != Time::max()) return;
  // Who was lost since look_for_lost() is started again the next time round; until it gives up nobody has failed.
  if (run_.scenario.network.restarts > 0 && !over_) return;
  for (const auto& node : nodes_) {
    if (!node->ended() || node->well()) continue;
    stop_at_ = std::min(stop_at_, node->never_began() ? now : now + patience_);
  }
  if (now >= stop_at_) stop();
}

void LaunchWatch::stop() {
  if (kill_at_ != Time::max()) return;
  kill_at_ = std::chrono::steady_clock::now() + patience_;
  for (const auto& node : nodes_) node->stop();
}

void LaunchWatch::clear() const {
  for (const auto& node : lost_) node->clean_up();
  for (const auto& staging : stagings_) staging->clear();
}

}  // namespace isochron::app
