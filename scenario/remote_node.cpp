#include "scenario/remote_node.hpp"

#include <algorithm>
#include <set>

#include "flow/node_steps.hpp"

namespace isochron {
namespace {

using namespace std::chrono_literals;

constexpr WallSpan look_every = 100ms;
constexpr WallSpan explain_after = 800ms;  // a stall with a peer in trouble
constexpr WallSpan linger_for = 2s;        // for the others' last acknowledgements
constexpr std::uint32_t steps_at_a_time = 1024;
constexpr std::uint32_t turns_at_a_time = 64;  // before looking at the network again
constexpr const char* well = "";               // a farewell without a reason to worry

/// There is nobody else to wake in this process.
struct LoneHub {
  static constexpr bool concurrent = false;
  static bool sleepy() { return true; }
  void wake(std::uint32_t) {}
};

flow::AssemblyPlan plan_for(const flow::Options& options) {
  flow::AssemblyPlan plan;
  plan.split = true;
  plan.largest_message = options.largest_message;
  plan.settings.digest = options.digest;
  plan.settings.recorder = options.recorder;
  plan.settings.hold_limit = options.hold_limit;
  return plan;
}

}  // namespace

std::vector<std::uint32_t> RemoteNode::peers_of(const flow::Graph& graph, std::uint32_t self) {
  std::set<std::uint32_t> peers;
  for (const auto& [output, input] : graph.connections) {
    if (output.node == self) peers.insert(input.node);
    if (input.node == self) peers.insert(output.node);
  }
  peers.erase(self);
  return {peers.begin(), peers.end()};
}

RemoteNode::RemoteNode(flow::System& system, std::uint32_t self, const flow::Options& options,
                       link::Federation& federation, link::Carrier& carrier, Clock& clock)
    : options_(options),
      federation_(federation),
      carrier_(carrier),
      clock_(clock),
      assembly_(system, plan_for(options)),
      self_(self),
      node_(*assembly_.nodes()[self]),
      statuses_(assembly_.nodes().size()) {
  for (const std::uint32_t peer : federation.roster().peers) {
    Other one{peer, std::make_unique<ToPeer>(federation, peer), nullptr};
    one.peer = std::make_unique<flow::Peer>(assembly_, self, peer, *one.way);
    others_.push_back(std::move(one));
  }
}

RemoteNode::Other* RemoteNode::other(std::uint32_t index) {
  const auto found = std::ranges::find(others_, index, &Other::index);
  return found == others_.end() ? nullptr : &*found;
}

flow::Outcome RemoteNode::run() {
  since_ = looked_ = moved_ = clock_.now();
  federation_.start({[this](std::uint32_t from, std::span<const std::byte> bytes) { arrived(from, bytes); },
                     {},
                     [this](std::uint32_t who) { left(who); },
                     [this](const std::string& what) {
                       if (options_.on_stall) options_.on_stall("on the network: " + what + "\n");
                     },
                     [this] { round(); }});
  carrier_.run();
  for (const auto& ways : assembly_.ways()) outcome_.messages += ways.front()->written.load();
  return std::move(outcome_);
}

void RemoteNode::arrived(std::uint32_t from, std::span<const std::byte> bytes) {
  if (phase_ == Phase::over) return;
  const auto taken = other(from)->peer->arrived(bytes);
  if (!taken) fail(from, taken.error());
}

void RemoteNode::left(std::uint32_t who) {
  const link::Session& session = federation_.session(who);
  if (session.left_cleanly() && session.why() == well) return;
  if (phase_ == Phase::gathering || phase_ == Phase::running) fail(who, session.why());
}

void RemoteNode::fail(std::uint32_t node, const std::string& what) {
  statuses_[self_].post(node_);
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

void RemoteNode::round() {
  if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) end("it was stopped");
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
  for (Other& one : others_) one.peer->greet();
  node_.start(assembly_.graph().start);
  node_.set_stop(options_.until);
  phase_ = Phase::running;
  since_ = moved_ = clock_.now();
}

void RemoteNode::advance() {
  LoneHub hub;
  for (std::uint32_t turn = 0; turn < turns_at_a_time; ++turn) {
    const flow::Moved moved = node_.run(hub, steps_at_a_time);
    for (Other& one : others_) one.peer->pump();
    if (moved != flow::Moved::on) break;
  }
  if (!node_.finished()) return;
  node_.finish();
  outcome_.complete = true;
  end(well);
}

/// Stays until the others have everything, and to acknowledge what they still send.
void RemoteNode::linger() {
  const bool late = clock_.now() - since_ > linger_for;
  if (!federation_.drained() && !late) return;
  federation_.bye(farewell_);
  if (!federation_.all_left() && !late) return;
  phase_ = Phase::over;
  carrier_.stop();
}

/// "red waits for a message of yellow.position at 12s", and what is known of those it depends on.
std::string RemoteNode::standing() {
  statuses_[self_].post(node_);
  std::string text = phase_ == Phase::gathering ? "  " + node_.name() + " waits for the others to come\n"
                                                : "  " + describe(assembly_.graph(), self_, statuses_[self_]) + "\n";
  for (const std::string& trouble : federation_.troubles()) text += "  " + trouble + "\n";
  return text;
}

void RemoteNode::look_around() {
  looked_ = clock_.now();
  if (node_.steps() != steps_) {
    steps_ = node_.steps();
    moved_ = looked_;
    told_ = false;
  }
  statuses_[self_].post(node_);
  if (phase_ == Phase::running) federation_.set_news(describe(assembly_.graph(), self_, statuses_[self_]));
  bool trouble = false;
  for (const Other& one : others_) trouble = trouble || federation_.session(one.index).silent(looked_);
  const WallSpan patience = trouble ? WallSpan(explain_after) : options_.stall_after;
  if (told_ || patience == WallSpan::zero() || looked_ - moved_ < patience) return;
  told_ = true;
  if (options_.on_stall) options_.on_stall(standing());
}

}  // namespace isochron
