#include "link/tcp_carrier.hpp"

#include <algorithm>
#include <utility>

#include "core/input_error.hpp"
#include "link/packet.hpp"

namespace isochron::link {
namespace {

constexpr WallSpan tick_every = std::chrono::milliseconds(10);
constexpr WallSpan try_again_after = std::chrono::milliseconds(200);
constexpr WallSpan strangers_may_wait = std::chrono::seconds(5);
constexpr std::size_t most_lines = 256;                      // strangers included
constexpr std::size_t most_strangers = 128;                  // who have not shown yet who they are
constexpr std::size_t most_pending = std::size_t{1} << 20U;  // what a stranger that does not read may cost
constexpr std::size_t largest_packet = packet_head + largest_body + packet_proof;

}  // namespace

TcpCarrier::TcpCarrier(Reactor& reactor, std::vector<Address> addresses, std::uint32_t self,
                       std::vector<std::uint32_t> peers)
    : reactor_(reactor),
      addresses_(std::move(addresses)),
      self_(self),
      peers_(std::move(peers)),
      way_(addresses_.size()),
      tried_(addresses_.size(), WallTime::before_all()) {}

TcpCarrier::~TcpCarrier() { reactor_.cancel(timer_); }

void TcpCarrier::start(Events events) {
  events_ = std::move(events);
  auto listening = reactor_.listen(addresses_[self_], [this](std::unique_ptr<Stream> stream) {
    make_room();
    if (lines_.size() < most_lines) adopt(std::move(stream), std::nullopt);
  });
  if (!listening) throw InputError({"", 0, 0}, listening.error().what, "give the node another address with `at`");
  listener_ = std::move(*listening);
  tick();
}

void TcpCarrier::connect(std::uint32_t member) {
  tried_[member] = reactor_.now();
  adopt(reactor_.connect(addresses_[member]), member);
}

void TcpCarrier::adopt(std::unique_ptr<Stream> stream, std::optional<std::uint32_t> member) {
  lines_.push_back({std::move(stream), FrameReader(largest_packet), member, reactor_.now()});
  Line& line = lines_.back();
  line.stream->set_events({[this, &line](std::span<const std::byte> bytes) { arrived(line, bytes); }, [] {},
                           [this, &line](const NetError&) { lost(line); }});
  if (member) lead(line, *member);
}

/// From now on the line is the way to the member. Nobody reads any more what comes over the one before.
void TcpCarrier::lead(Line& line, std::uint32_t member) {
  Line* const before = std::exchange(way_[member], &line);
  if (before == &line) return;
  if (before != nullptr) before->dead = true;
  if (events_.rerouted) events_.rerouted(member);
}

bool TcpCarrier::flushed(std::uint32_t to) const {
  return way_[to] != nullptr && !way_[to]->dead && way_[to]->stream->pending() == 0;
}

bool TcpCarrier::took(Line& line, std::span<const std::byte> packet) {
  taking_ = &line;
  const auto from = events_.packet(packet);
  taking_ = nullptr;
  if (!from || line.dead) return !line.dead;
  // Those with higher numbers wait for us to connect: who connects to us in their name is not they.
  if (!line.member && *from < self_) line.member = *from;
  if (line.member != *from) return false;
  lead(line, *from);
  return true;
}

void TcpCarrier::arrived(Line& line, std::span<const std::byte> bytes) {
  const auto taken = line.reader.take(bytes, [&](std::span<const std::byte> packet) { return took(line, packet); });
  if (!taken) lost(line);
  events_.round();
}

/// The line itself goes with the next tick: we may be inside its callback.
void TcpCarrier::lost(Line& line) {
  line.dead = true;
  if (line.member && way_[*line.member] == &line) way_[*line.member] = nullptr;
}

void TcpCarrier::moved(std::uint32_t member, const Address& to) {
  if (addresses_[member] == to) return;
  addresses_[member] = to;
  tried_[member] = WallTime::before_all();
  for (Line& line : lines_) {
    if (line.member == member && self_ < member) lost(line);  // we connect, and it led to where it was
  }
}

void TcpCarrier::send(std::uint32_t to, std::span<const std::byte> packet) { write(way_[to], packet); }

void TcpCarrier::answer(std::uint32_t /*to*/, std::span<const std::byte> packet) { write(taking_, packet); }

void TcpCarrier::write(Line* line, std::span<const std::byte> packet) {
  // What members have for each other is bounded by the flows' credits; a stranger is owed nothing.
  if (line == nullptr || line->dead || (!line->member && line->stream->pending() > most_pending)) return;
  out_.clear();
  append_frame(out_, packet);
  line->stream->send(out_);
}

/// Whoever has connected last is most likely to be in the middle of proving who it is.
void TcpCarrier::make_room() {
  const auto waiting = [](const Line& line) { return !line.member && !line.dead; };
  if (std::ranges::count_if(lines_, waiting) < static_cast<std::ptrdiff_t>(most_strangers)) return;
  std::ranges::find_if(lines_, waiting)->dead = true;
  std::erase_if(lines_, [](const Line& line) { return line.dead; });
}

void TcpCarrier::tick() {
  const WallTime now = reactor_.now();
  for (Line& line : lines_) {
    if (!line.member && now - line.since > strangers_may_wait) line.dead = true;
  }
  std::erase_if(lines_, [](const Line& line) { return line.dead; });
  for (const std::uint32_t peer : peers_) {
    const bool due = tried_[peer] == WallTime::before_all() || now - tried_[peer] > try_again_after;
    if (self_ < peer && way_[peer] == nullptr && due) connect(peer);
  }
  timer_ = reactor_.call_at(now + tick_every, [this] { tick(); });
  events_.round();
}

}  // namespace isochron::link
