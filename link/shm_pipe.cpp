#include "link/shm_pipe.hpp"

#include <poll.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "link/futex.hpp"

namespace isochron::link {

struct PipeRing {
  alignas(64) std::atomic<std::uint32_t> tail;
  Doorbell data;  // rung by the writer
  alignas(64) std::atomic<std::uint32_t> head;
  Doorbell room;  // rung by the reader
};

struct PipeParty {
  std::atomic<std::uint32_t> state;
  std::atomic<std::int32_t> pid;
};

struct PipeHeader {
  std::atomic<std::uint64_t> magic;  // written last: the rest is ready
  std::uint32_t capacity;
  PipeParty parties[2];
  PipeRing rings[2];  // [i] carries what side i sends
};

namespace {

constexpr std::uint64_t magic = 0x3165706970686973;  // also the version: another layout has another number
constexpr std::uint32_t check = 0x5ca1ab1e;
constexpr std::size_t page = 4096;
constexpr std::size_t frame_head = 8;
enum State : std::uint32_t { absent = 0, attached = 1, closed = 2 };

constexpr std::size_t header_bytes = (sizeof(PipeHeader) + page - 1) / page * page;

/// Bytes that a frame takes in the ring.
constexpr std::size_t frame_size(std::size_t payload) { return frame_head + ((payload + 7) & ~std::size_t{7}); }

}  // namespace

const char* to_string(PipeFault fault) {
  switch (fault) {
    case PipeFault::timeout:
      return "nothing happened in the given time";
    case PipeFault::closed:
      return "the other side has closed";
    case PipeFault::died:
      return "the other side's process has died";
    case PipeFault::too_long:
      return "the frame is larger than the pipe";
    case PipeFault::corrupt:
      return "the other side wrote nonsense into shared memory";
  }
  return "";
}

ShmPipe::ShmPipe(SharedMemory memory, const PipeOptions& options, int side, MirroredView out, MirroredView in)
    : memory_(std::move(memory)),
      spin_(options.spin),
      death_check_(options.death_check),
      side_(side),
      out_(std::move(out)),
      in_(std::move(in)) {
  PipeParty& me = header().parties[side_];
  me.pid.store(::getpid(), std::memory_order_relaxed);
  me.state.store(attached, std::memory_order_release);
}

Result<ShmPipe, std::string> ShmPipe::map(SharedMemory memory, const PipeOptions& options, int side) {
  const std::size_t capacity = reinterpret_cast<PipeHeader*>(memory.bytes().data())->capacity;
  const auto at = [&](int ring) { return header_bytes + static_cast<std::size_t>(ring) * capacity; };
  auto out = MirroredView::of(memory, at(side), capacity);
  if (!out) return fail(out.error());
  auto in = MirroredView::of(memory, at(1 - side), capacity);
  if (!in) return fail(in.error());
  return ShmPipe(std::move(memory), options, side, std::move(*out), std::move(*in));
}

Result<ShmPipe, std::string> ShmPipe::create(const PipeOptions& options, const std::string& label) {
  const std::size_t capacity = std::bit_ceil(std::clamp<std::size_t>(options.capacity, page, std::size_t{1} << 30));
  const std::size_t bytes = header_bytes + 2 * capacity;
  auto memory = label.empty() ? SharedMemory::anonymous(bytes) : SharedMemory::create(label, bytes);
  if (!memory) return fail(memory.error());
  auto* header = new (memory->bytes().data()) PipeHeader{};
  header->capacity = static_cast<std::uint32_t>(capacity);
  header->magic.store(magic, std::memory_order_release);
  return map(std::move(*memory), options, 0);
}

Result<ShmPipe, std::string> ShmPipe::attach(SharedMemory memory, const PipeOptions& options) {
  const std::size_t size = memory.bytes().size();
  if (size < header_bytes) return fail(std::string("shared memory: this is not a pipe"));
  auto* header = reinterpret_cast<PipeHeader*>(memory.bytes().data());
  if (header->magic.load(std::memory_order_acquire) != magic) {
    return fail(std::string("shared memory: this is not a pipe, or one of another version"));
  }
  const std::uint32_t capacity = header->capacity;
  if (!std::has_single_bit(capacity) || capacity < page || size != header_bytes + 2 * std::size_t{capacity}) {
    return fail(std::string("shared memory: the pipe's header is damaged"));
  }
  std::uint32_t nobody = absent;
  if (!header->parties[1].state.compare_exchange_strong(nobody, attached)) {
    return fail(std::string("shared memory: somebody else is the other side of this pipe already"));
  }
  return map(std::move(memory), options, 1);
}

ShmPipe::~ShmPipe() { close(); }

ShmPipe& ShmPipe::operator=(ShmPipe&& other) noexcept {
  if (this == &other) return *this;
  std::destroy_at(this);
  return *std::construct_at(this, std::move(other));
}

PipeHeader& ShmPipe::header() const { return *reinterpret_cast<PipeHeader*>(memory_.bytes().data()); }
PipeRing& ShmPipe::out_ring() const { return header().rings[side_]; }
PipeRing& ShmPipe::in_ring() const { return header().rings[1 - side_]; }
std::size_t ShmPipe::largest_frame() const { return capacity() - frame_head; }

void ShmPipe::close() {
  if (memory_.bytes().empty()) return;  // moved from
  PipeParty& me = header().parties[side_];
  if (me.pid.load(std::memory_order_relaxed) != ::getpid()) return;  // a forked child's copy
  if (me.state.exchange(closed, std::memory_order_seq_cst) == closed) return;
  out_ring().data.ring();
  in_ring().room.ring();
}

bool ShmPipe::peer_attached() const {
  return header().parties[1 - side_].state.load(std::memory_order_acquire) == attached;
}

int ShmPipe::peer_pid() const { return header().parties[1 - side_].pid.load(std::memory_order_relaxed); }

bool ShmPipe::died(Watch& watch) const {
  const int pid = peer_pid();
  if (watch.died || pid <= 0 || !peer_attached()) return watch.died;
  if (!watch.process.open()) {
    watch.process.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!watch.process.open()) return watch.died = errno == ESRCH;
  }
  pollfd ask{watch.process.get(), POLLIN, 0};
  return watch.died = ::poll(&ask, 1, 0) > 0;
}

/// In slices, so that a peer's death is noticed.
template <class Ready>
Result<Done, PipeFault> ShmPipe::wait(Doorbell& bell, Watch& watch, Ready&& ready, WallSpan timeout) const {
  const PipeParty& peer = header().parties[1 - side_];
  const auto over = [&] { return peer.state.load(std::memory_order_acquire) == closed; };
  // After the peer is seen to be over, look once more: it may have published before.
  const auto unless_ready = [&](PipeFault fault) { return ready() ? Result<Done, PipeFault>(done()) : fail(fault); };
  if (timeout <= WallSpan::zero()) return unless_ready(over() ? PipeFault::closed : PipeFault::timeout);
  WallSpan spin = spin_;
  const WallTime end = timeout == forever ? WallTime::never() : monotonic_now() + timeout;
  while (true) {
    const WallSpan left = end == WallTime::never() ? death_check_ : std::min(death_check_, end - monotonic_now());
    if (bell.wait([&] { return ready() || over(); }, spin, std::max(left, WallSpan::zero()))) {
      return unless_ready(PipeFault::closed);
    }
    if (died(watch)) return unless_ready(PipeFault::died);
    if (left < death_check_) return unless_ready(PipeFault::timeout);
    spin = WallSpan::zero();
  }
}

bool ShmPipe::room_for(std::uint32_t bytes) {
  const auto fits = [&] { return capacity() - (tail_ - peer_head_) >= bytes; };
  if (fits()) return true;
  const std::uint32_t head = out_ring().head.load(std::memory_order_acquire);
  if (tail_ - head > capacity()) sender_.corrupt = true;  // it says that it has read what was not written
  if (!sender_.corrupt) peer_head_ = head;
  return sender_.corrupt || fits();
}

Result<std::span<std::byte>, PipeFault> ShmPipe::reserve(std::size_t bytes, WallSpan timeout) {
  if (bytes > largest_frame()) return fail(PipeFault::too_long);
  const auto size = static_cast<std::uint32_t>(frame_size(bytes));
  if (header().parties[1 - side_].state.load(std::memory_order_relaxed) == closed) return fail(PipeFault::closed);
  if (!room_for(size)) {
    publish();  // the peer makes room only by reading
    const auto waited = wait(
        out_ring().room, sender_, [&] { return room_for(size); }, timeout);
    if (!waited) return fail(waited.error());
  }
  if (sender_.corrupt) return fail(PipeFault::corrupt);
  reserved_ = static_cast<std::uint32_t>(bytes);
  return std::span(out_.data() + (tail_ & (capacity() - 1)) + frame_head, bytes);
}

void ShmPipe::commit(std::size_t bytes) {
  ENSURE(bytes <= reserved_, "more was committed than reserved");
  const auto length = static_cast<std::uint32_t>(bytes);
  std::byte* at = out_.data() + (tail_ & (capacity() - 1));
  const std::uint32_t words[2] = {length, length ^ check};
  std::memcpy(at, words, sizeof words);
  tail_ += static_cast<std::uint32_t>(frame_size(bytes));
  reserved_ = 0;
}

void ShmPipe::publish() {
  if (published_ == tail_) return;
  published_ = tail_;
  out_ring().tail.store(tail_, std::memory_order_release);
  out_ring().data.ring();
}

Result<Done, PipeFault> ShmPipe::send(std::span<const std::byte> frame, WallSpan timeout) {
  auto room = reserve(frame.size(), timeout);
  if (!room) return fail(room.error());
  if (!frame.empty()) std::memcpy(room->data(), frame.data(), frame.size());
  commit(frame.size());
  publish();
  return done();
}

bool ShmPipe::something_to_read() {
  if (peer_tail_ == head_) peer_tail_ = in_ring().tail.load(std::memory_order_acquire);
  return peer_tail_ != head_;
}

void ShmPipe::release() {
  head_ += std::exchange(current_, 0);
  // The writer is told when we have caught up or when it pays: each telling costs it a cache miss.
  const bool worth_it = head_ == peer_tail_ || head_ - told_head_ >= capacity() / 4;
  if (head_ == told_head_ || !worth_it) return;
  told_head_ = head_;
  in_ring().head.store(head_, std::memory_order_release);
  in_ring().room.ring();
}

Result<std::span<const std::byte>, PipeFault> ShmPipe::take_frame() {
  const std::uint32_t there = peer_tail_ - head_;
  const std::byte* at = in_.data() + (head_ & (capacity() - 1));
  std::uint32_t words[2];
  std::memcpy(words, at, sizeof words);
  const bool sound = there <= capacity() && there >= frame_head && words[1] == (words[0] ^ check) &&
                     words[0] <= largest_frame() && frame_size(words[0]) <= there;
  if (!sound) receiver_.corrupt = true;
  if (receiver_.corrupt) return fail(PipeFault::corrupt);
  current_ = static_cast<std::uint32_t>(frame_size(words[0]));
  return std::span(at + frame_head, words[0]);
}

Result<std::span<const std::byte>, PipeFault> ShmPipe::receive(WallSpan timeout) {
  release();
  if (receiver_.corrupt) return fail(PipeFault::corrupt);
  if (!something_to_read()) {
    const auto waited = wait(
        in_ring().data, receiver_, [&] { return something_to_read(); }, timeout);
    if (!waited) return fail(waited.error());
  }
  return take_frame();
}

}  // namespace isochron::link
