#include "run/remote_node.hpp"

#include "link/resolve.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

constexpr WallSpan look_every = 100ms;
constexpr WallSpan explain_after = 800ms;  // a stall with a peer in trouble
constexpr WallSpan linger_for = 2s;        // for the others' last acknowledgements
constexpr std::uint32_t steps_at_a_time = 1024;
constexpr std::uint32_t turns_at_a_time = 64;  // before looking at the network again
constexpr const char* well = "";               // a farewell without a reason to worry
constexpr const char* stopped = "it was stopped";

flow::Waiting trouble(std::string node, std::string what) {
  flow::Waiting waiting;
  waiting.node = std::move(node);
  waiting.what = flow::Waiting::For::trouble;
  waiting.whom = std::move(what);
  return waiting;
}

flow::AssemblyPlan plan_for(const flow::Options& options) {
  flow::AssemblyPlan plan;
  plan.split = true;
  plan.largest_message = options.largest_message;
  plan.settings.digest = options.digest;
  plan.settings.observer = options.observer;
  plan.settings.hold_limit = options.hold_limit;
  plan.settings.poison = options.poison;
  return plan;
}

}  // namespace

RemoteNode::RemoteNode(flow::System& system, std::uint32_t self, const flow::Options& options,
                       link::Federation& federation, link::Carrier& carrier, Clock& clock)
    : RemoteNode(system, self, options, federation, carrier, clock, Lives{}) {}

RemoteNode::RemoteNode(flow::System& system, std::uint32_t self, const flow::Options& options,
                       link::Federation& federation, link::Carrier& carrier, Clock& clock, const Lives& lives)
    : options_(options),
      federation_(federation),
      carrier_(carrier),
      clock_(clock),
      lives_(lives),
      assembly_(system, plan_for(options)),
      self_(self),
      island_(assembly_, self, {lives.log, lives.rendezvous == nullptr ? 0 : lives.rendezvous->life()}),
      statuses_(assembly_.nodes().size()) {
  for (const std::uint32_t peer : federation.roster().peers) {
    ways_.push_back(std::make_unique<ToPeer>(federation, peer));
    island_.join(peer, *ways_.back());
  }
}

flow::FlowOutcome RemoteNode::run() {
  since_ = looked_ = moved_ = clock_.now();
  federation_.start({[this](std::uint32_t from, std::span<const std::byte> bytes) { arrived(from, bytes); },
                     {},
                     [this](std::uint32_t who) { left(who); },
                     [this](const std::string& what) {
                       if (options_.on_stall) options_.on_stall({trouble("on the network", what)});
                     },
                     [this] { round(); },
                     [this](std::uint32_t who, std::uint32_t stream) { island_.restart(who, stream); },
                     [this](std::uint32_t who, std::uint32_t stream) { island_.restarted(who, stream); },
                     [this](std::uint32_t who) { island_.begins_again(who); }});
  if (lives_.rendezvous != nullptr) lives_.rendezvous->began();
  carrier_.run();
  for (const auto& ways : assembly_.ways()) outcome_.messages += ways.front()->written.load();
  return std::move(outcome_);
}

void RemoteNode::arrived(std::uint32_t from, std::span<const std::byte> bytes) {
  if (phase_ == Phase::over) return;
  const auto taken = island_.arrived(from, bytes);
  if (!taken) fail(from, taken.error());
}

void RemoteNode::left(std::uint32_t who) {
  const link::Session& session = federation_.session(who);
  if (session.left_cleanly() && session.why() == well) return;
  // Silent, or cut off from its launcher: whether it comes again is not ours to say.
  const bool lost =
      session.state() == link::Session::State::left && (!session.left_cleanly() || session.why() == stopped);
  if (lives_.rendezvous != nullptr && lost) return lives_.rendezvous->missing(assembly_.graph().nodes[who].name);
  if (phase_ == Phase::gathering || phase_ == Phase::running) fail(who, session.why());
}

void RemoteNode::fail(std::uint32_t node, const std::string& what) {
  statuses_[self_].post(island_.node());
  outcome_.failures.push_back(
      {assembly_.graph().nodes[node].name, what, waiting_for(assembly_.graph(), node, statuses_)});
  end("node " + assembly_.graph().nodes[node].name + " failed: " + what);
}

void RemoteNode::end(const std::string& reason) {
  if (phase_ == Phase::leaving || phase_ == Phase::over) return;
  farewell_ = reason;
  phase_ = Phase::leaving;
  since_ = clock_.now();
}

std::uint32_t RemoteNode::called(const std::string& name) const {
  const auto& nodes = assembly_.graph().nodes;
  const auto found = std::ranges::find(nodes, name, &flow::NodeInfo::name);
  return static_cast<std::uint32_t>(found - nodes.begin());
}

void RemoteNode::hear_launcher() {
  const Rendezvous::News news = lives_.rendezvous->take();
  for (const Rendezvous::Again& again : news.again) {
    const auto at = link::resolve(again.address);
    if (!at)
      return fail(self_, "the launcher says that " + again.node + " is at " + again.address + ": " + at.error().what);
    federation_.expect_again(called(again.node), again.life, at->front());
  }
  for (const auto& [node, why] : news.given_up) {
    const std::uint32_t lost = called(node);
    if (lost < statuses_.size() && phase_ != Phase::leaving && phase_ != Phase::over) fail(lost, why);
  }
  if (!news.over) return;
  over_ = true;
  since_ = clock_.now();
}

void RemoteNode::round() {
  if (lives_.rendezvous != nullptr) hear_launcher();
  if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) end(stopped);
  try {
    if (phase_ == Phase::gathering && federation_.all_joined()) begin();
    if (phase_ == Phase::running) advance();
  } catch (const std::exception& error) {
    fail(self_, error.what());
  }
  if (phase_ == Phase::leaving) return linger();
  if (phase_ != Phase::over && clock_.now() - looked_ >= look_every) look_around();
}

void RemoteNode::begin() {
  island_.start(options_.until);
  phase_ = Phase::running;
  since_ = moved_ = clock_.now();
}

void RemoteNode::advance() {
  for (std::uint32_t turn = 0; turn < turns_at_a_time; ++turn) {
    if (island_.go(steps_at_a_time) != flow::Moved::on) break;
  }
  if (!island_.finished()) return;
  island_.finish();
  outcome_.complete = true;
  end(well);
}

/// Whether one that is lost may still need what this node has sent.
bool RemoteNode::stays() {
  const bool stopped = options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed);
  if (lives_.rendezvous == nullptr || over_ || !outcome_.complete || stopped) return false;
  if (!said_finished_) lives_.rendezvous->finished();
  said_finished_ = true;
  since_ = clock_.now();
  island_.serve();
  return true;
}

/// Stays until the others have everything, and to acknowledge what they still send.
void RemoteNode::linger() {
  if (stays()) return;
  const bool late = clock_.now() - since_ > linger_for;
  if (!(federation_.drained() && island_.resumed()) && !late) return;
  federation_.bye(farewell_);
  if (!federation_.all_left() && !late) return;
  phase_ = Phase::over;
  carrier_.stop();
}

/// "red waits for a message of yellow.position at 12s", and what is known of those it depends on.
flow::WaitForGraph RemoteNode::standing() {
  statuses_[self_].post(island_.node());
  flow::WaitForGraph graph{phase_ == Phase::gathering ? trouble(island_.node().name(), "waits for the others to come")
                                                      : waiting_of(assembly_.graph(), self_, statuses_[self_])};
  graph.front().since = looked_ - moved_;
  for (const std::string& what : federation_.troubles()) graph.push_back(trouble("network", what));
  return graph;
}

void RemoteNode::look_around() {
  looked_ = clock_.now();
  if (island_.node().steps() != steps_) {
    steps_ = island_.node().steps();
    moved_ = looked_;
    told_ = false;
  }
  statuses_[self_].post(island_.node());
  if (phase_ == Phase::running) federation_.set_news(to_string(waiting_of(assembly_.graph(), self_, statuses_[self_])));
  if (options_.on_look) options_.on_look(standing());
  bool trouble = false;
  for (const std::uint32_t peer : federation_.roster().peers) {
    trouble = trouble || federation_.session(peer).silent(looked_);
  }
  const WallSpan patience = trouble ? WallSpan(explain_after) : options_.stall_after;
  const WallSpan stood = looked_ - moved_;
  const bool over = options_.end_on_stall && options_.stall_after > WallSpan::zero() && stood >= options_.stall_after;
  if (patience == WallSpan::zero() || stood < patience || (told_ && !over)) return;
  const flow::WaitForGraph graph = standing();
  if (!told_ && options_.on_stall) options_.on_stall(graph);
  told_ = true;
  if (!over) return;
  outcome_.stall = to_string(graph);
  end("node " + island_.node().name() + " stood still");
}

}  // namespace isochron
