// A session under packets that are authentic but hostile: of the peer's own session or of another, of this run or an
// older one, with any numbers, in any order, as a holder of the key or a recorder can send them. Each byte of the input
// chooses the next move. What must hold: bytes are handed on only from the peer that joined, in order and once; who has
// left or was refused stays so; a packet that came before is never taken again.

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <set>

#include "core/foreign_text.hpp"
#include "link/session.hpp"

namespace {

using namespace isochron;
using namespace isochron::link;

constexpr std::uint64_t ours = 1, theirs = 2, other = 3;

void demand(bool so) {
  if (!so) std::abort();
}

class Attack {
 public:
  explicit Attack(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  void run() {
    for (int i = 0; i < 300 && !bytes_.empty(); ++i) {
      step();
      now_ += WallSpan::from_ns((bytes_.empty() ? 1 : bytes_.front() % 8U) * 50'000'000LL);
    }
  }

 private:
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }
  std::uint64_t number() {
    static constexpr std::uint64_t far[] = {0, UINT64_MAX, UINT64_MAX - 1, std::uint64_t{1} << 63U};
    const std::uint8_t choice = byte();
    return choice < 4 ? far[choice] : choice - 4U;
  }
  void step() {
    switch (byte() % 5) {
      case 0:
        session_.tick(now_);
        break;
      case 1:
        session_.send(text_, now_);
        break;
      case 2:
        session_.bye("over", now_);
        break;
      case 3:
        if (!seen_.empty()) take(seen_[byte() % seen_.size()]);
        break;
      default:
        fresh();
    }
    const Session::State state = session_.state();
    if (last_ == Session::State::left || last_ == Session::State::refused) demand(state == last_);
    last_ = state;
    demand(first_bad_byte(session_.why()) == std::string::npos && first_bad_byte(session_.news()) == std::string::npos);
  }
  void fresh() {
    static constexpr std::uint64_t sessions[] = {theirs, theirs, theirs, other, ours, 0};
    static constexpr std::uint64_t hearings[] = {ours, ours, ours, other, 0};
    Packet packet;
    packet.kind = static_cast<PacketKind>(1 + byte() % 4);
    packet.session = sessions[byte() % 6];
    packet.heard = hearings[byte() % 5];
    packet.number = number();
    packet.ack = number();
    packet.turn = number();
    const std::size_t size = std::min<std::size_t>(byte() % 40U, bytes_.size());
    packet.body = std::as_bytes(bytes_.first(size));
    bytes_ = bytes_.subspan(size);
    take(packet);
    if (seen_.size() < 100) seen_.push_back(packet);
  }
  void take(const Packet& packet) {
    const Session::Taken taken = session_.take(packet, now_);
    demand(taken.genuine || taken.bytes.empty());
    if (!taken.genuine) return;
    demand(packet.heard == ours && packet.session != 0);
    demand(turns_.insert(packet.turn).second);
    if (!taken.bytes.empty()) demand(packet.kind == PacketKind::data && packet.number == expected_ + 1);
    if (packet.kind == PacketKind::data && packet.number == expected_ + 1 && last_ != Session::State::left) ++expected_;
    demand(taken.bytes.empty() || taken.bytes.data() == packet.body.data());
  }

  std::span<const std::uint8_t> bytes_;
  std::uint64_t sent_ = 0;
  Session session_{Packet{}, ours, {}, [this](const Packet&) { ++sent_; }};
  WallTime now_ = WallTime::zero() + WallSpan(std::chrono::seconds(1));
  const std::array<std::byte, 3> text_{};
  std::deque<Packet> seen_;
  std::set<std::uint64_t> turns_;
  std::uint64_t expected_ = 0;
  Session::State last_ = Session::State::knocking;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Attack({data, size}).run();
  return 0;
}
