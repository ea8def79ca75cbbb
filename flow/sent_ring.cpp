#include "flow/sent_ring.hpp"

#include <bit>
#include <cstring>

#include "flow/futex.hpp"

namespace isochron::flow {
namespace {

constexpr std::size_t step = 16;
constexpr int most_at_a_time = 512;
constexpr int looks = 64;                                           // for room, before sleeping
constexpr WallSpan longest_sleep = std::chrono::milliseconds(100);  // then look again
static_assert(sizeof(SentHead) % step == 0);

std::size_t stride_of(std::size_t size) { return sizeof(SentHead) + (size + step - 1) / step * step; }

}  // namespace

SentRing* make_sent_ring(Arena& arena, std::size_t capacity) {
  SentRing* ring = arena.make<SentRing>();
  ring->capacity = std::bit_ceil(capacity);
  ring->bytes = static_cast<std::byte*>(arena.take(ring->capacity, 64));
  return ring;
}

void SentWriter::sent(const Sent& message) {
  std::span<const std::byte> payload;
  if (message.type->flat) {
    payload = {static_cast<const std::byte*>(message.value), message.type->size};
  } else {
    encoded_.resize(message.type->encoded_size(message.value));
    message.type->encode(message.value, encoded_);
    payload = encoded_;
  }
  const std::size_t longest = ring_.capacity / 4;
  SentHead head;
  head.flow = message.flow;
  head.time = message.time.ns();
  head.next = message.next.ns();
  head.when = clock_.now().ns();
  head.more = 1;
  for (; payload.size() > longest; payload = payload.subspan(longest)) put(head, payload.first(longest));
  head.more = 0;
  put(head, payload);
  if (in_step_) (void)await(tail_);
}

void SentWriter::put(const SentHead& head, std::span<const std::byte> piece) {
  const std::size_t stride = stride_of(piece.size());
  const std::size_t place = tail_ & (ring_.capacity - 1);
  const std::size_t to_end = ring_.capacity - place;
  const std::size_t skipped = stride > to_end ? to_end : 0;
  const std::uint64_t end = tail_ + skipped + stride;
  if (end - head_seen_ > ring_.capacity && !await(end - ring_.capacity)) return;
  if (skipped != 0) {
    // There is always room for a head: both it and all strides are multiples of 16, and a short rest is skipped alike.
    SentHead skip;
    skip.skip = static_cast<std::uint32_t>(skipped);
    std::memcpy(ring_.bytes + place, &skip, std::min(sizeof skip, skipped));
    if (skipped < sizeof skip) std::memset(ring_.bytes + place, 0xFF, skipped);
  }
  std::byte* at = ring_.bytes + ((tail_ + skipped) & (ring_.capacity - 1));
  SentHead whole = head;
  whole.size = static_cast<std::uint32_t>(piece.size());
  std::memcpy(at, &whole, sizeof whole);
  if (!piece.empty()) std::memcpy(at + sizeof whole, piece.data(), piece.size());
  tail_ += skipped + stride;
  ring_.tail.store(tail_, std::memory_order_release);
}

/// Until the parent has come so far; false: the run was ended before.
bool SentWriter::await(std::uint64_t head_at_least) {
  for (int i = 0; (head_seen_ = ring_.head.load(std::memory_order_acquire)) < head_at_least; ++i) {
    if (ended_.load(std::memory_order_relaxed) != 0) return false;
    if (i < looks) {
      relax();
      continue;
    }
    const std::uint32_t room = ring_.room.load();
    ring_.waits.store(1);
    if (ring_.head.load() < head_at_least) futex_wait(ring_.room, room, longest_sleep);
  }
  return true;
}

SentReader::~SentReader() {
  for (const auto& [type, value] : values_) delete_payload(*type, value);
}

SentReader::SentReader(SentReader&& other) noexcept
    : ring_(other.ring_),
      head_(other.head_),
      pieces_(std::move(other.pieces_)),
      values_(std::exchange(other.values_, {})) {}

bool SentReader::take(SentObserver& observer, std::span<const PayloadType* const> types) {
  const std::uint64_t tail = ring_.tail.load(std::memory_order_acquire);
  if (head_ == tail) return false;
  for (int i = 0; head_ != tail && i < most_at_a_time; ++i) {
    const std::size_t place = head_ & (ring_.capacity - 1);
    const std::size_t to_end = ring_.capacity - place;
    SentHead head;
    if (to_end >= sizeof head) std::memcpy(&head, ring_.bytes + place, sizeof head);
    if (to_end < sizeof head || head.skip != 0) {
      head_ += to_end;
      continue;
    }
    const std::span<const std::byte> piece(ring_.bytes + place + sizeof head, head.size);
    head_ += stride_of(head.size);
    if (head.more != 0 || !pieces_.empty()) pieces_.insert(pieces_.end(), piece.begin(), piece.end());
    if (head.more != 0) {
      release();
      continue;
    }
    hand_on(observer, head, pieces_.empty() ? piece : std::span<const std::byte>(pieces_), *types[head.flow]);
    pieces_.clear();
  }
  release();
  return true;
}

void SentReader::release() {
  ring_.head.store(head_);
  if (ring_.waits.exchange(0) == 0) return;
  ring_.room.fetch_add(1);
  futex_wake(ring_.room);
}

void SentReader::hand_on(SentObserver& observer, const SentHead& head, std::span<const std::byte> payload,
                         const PayloadType& type) {
  const void* value = payload.data();
  if (!type.flat) {
    auto known = values_.begin();
    while (known != values_.end() && known->first != &type) ++known;
    if (known == values_.end()) known = values_.insert(known, {&type, new_payload(type)});
    if (!type.decode(known->second, payload)) return;
    value = known->second;
  }
  observer.sent({head.flow, SimTime::from_ns(head.time), SimTime::from_ns(head.next), &type, value,
                 WallTime::from_ns(head.when)});
}

}  // namespace isochron::flow
