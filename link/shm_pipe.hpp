#pragma once
// Frames between two processes of one machine, both ways, through shared memory: one ring of bytes in each direction.
//
//     creator  -- ring 0 -->  peer          a frame: length (4) | check (4) | payload, padded to 8 bytes
//              <-- ring 1 --
//
//     ring:  ...|frame|frame|frame|........|    head: read so far     tail: written so far   (both only grow, mod 2^32)
//               ^head             ^tail
//
// Why it needs no lock. tail is stored by the writer only, head by the reader only. The writer fills bytes in
// [tail, tail + n) after it has seen head > tail + n - capacity (acquire): the reader has let go of them (release). The
// reader reads bytes in [head, tail) after it has seen that tail (acquire), which the writer stored after filling them
// (release). Sleeping and waking is the Doorbell's (link/futex.hpp). Each side keeps its own index to itself and only
// publishes it, so that a peer gone mad can neither move it nor make us read outside of the ring; nonsense in the
// peer's index or in a frame's length is told as `corrupt`.
//
// A peer's death. Who closes says so in the shared header and rings. Who is killed cannot: so a waiter wakes up every
// `death_check` and asks the kernel about the peer through a pidfd, which cannot mistake a new process for the old one.
// What a dead peer published before can still be read.
//
// Promises: frames arrive whole, in order, once; payloads begin at multiples of 8 bytes.
// Threads:  one sender and one receiver on each side; they may be different threads.
// Cost:     sending copies once, receiving not at all; no heap. A system call only to sleep or to wake a sleeper.
// Requires: both sides in one PID namespace, or deaths go unnoticed (closes do not).

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/result.hpp"
#include "core/time.hpp"
#include "link/fd.hpp"
#include "link/shared_memory.hpp"

namespace isochron::link {

enum class PipeFault { timeout, closed, died, too_long, corrupt };
[[nodiscard]] const char* to_string(PipeFault fault);

struct PipeOptions {
  std::size_t capacity = 1 << 20;  // bytes in each direction; rounded up to a power of two and to pages
  WallSpan spin = std::chrono::microseconds(20);
  WallSpan death_check = std::chrono::milliseconds(20);
};

struct Doorbell;
struct PipeHeader;
struct PipeRing;

class ShmPipe {
 public:
  static constexpr WallSpan forever = WallSpan::max();

  /// Makes the memory and is the one side of it. With a label the other side can find it by memory().name().
  static Result<ShmPipe, std::string> create(const PipeOptions& options = {}, const std::string& label = "");
  /// Is the other side. Fails: not a pipe, another version, or somebody is that side already.
  static Result<ShmPipe, std::string> attach(SharedMemory memory, const PipeOptions& options = {});

  ShmPipe(ShmPipe&&) noexcept = default;
  ShmPipe& operator=(ShmPipe&& other) noexcept;
  ~ShmPipe();

  /// One frame. Waits for room at most for `timeout`.
  Result<Done, PipeFault> send(std::span<const std::byte> frame, WallSpan timeout = forever);
  /// Room for a frame of at most `bytes`, to be filled in place; then commit() what was used. Nothing is seen of it,
  /// nor of those committed before, until publish(): several frames for one wake-up.
  Result<std::span<std::byte>, PipeFault> reserve(std::size_t bytes, WallSpan timeout = forever);
  void commit(std::size_t bytes);
  void publish();

  /// The next frame; valid until the next receive() or release().
  Result<std::span<const std::byte>, PipeFault> receive(WallSpan timeout = forever);
  /// Gives the last frame's room back early.
  void release();

  [[nodiscard]] bool peer_attached() const;
  /// Asks the kernel; for those who only poll with a timeout of zero, where deaths are not looked for. Receiver's
  /// thread.
  [[nodiscard]] bool peer_died() { return died(receiver_); }
  /// The peer's process; 0 = not attached yet.
  [[nodiscard]] int peer_pid() const;
  /// Says good-bye; the peer reads what was published, then `closed`.
  void close();
  [[nodiscard]] const SharedMemory& memory() const { return memory_; }
  [[nodiscard]] std::size_t largest_frame() const;

 private:
  ShmPipe(SharedMemory memory, const PipeOptions& options, int side, MirroredView out, MirroredView in);
  static Result<ShmPipe, std::string> map(SharedMemory memory, const PipeOptions& options, int side);
  [[nodiscard]] PipeHeader& header() const;
  [[nodiscard]] PipeRing& out_ring() const;
  [[nodiscard]] PipeRing& in_ring() const;
  [[nodiscard]] std::uint32_t capacity() const { return static_cast<std::uint32_t>(out_.bytes()); }
  struct Watch {  // one for the sender, one for the receiver: they may be different threads
    Fd process;   // the peer's pidfd
    bool died = false;
    bool corrupt = false;
  };
  [[nodiscard]] bool died(Watch& watch) const;
  template <class Ready>
  Result<Done, PipeFault> wait(Doorbell& bell, Watch& watch, Ready&& ready, WallSpan timeout) const;
  [[nodiscard]] bool room_for(std::uint32_t bytes);
  [[nodiscard]] bool something_to_read();
  Result<std::span<const std::byte>, PipeFault> take_frame();

  SharedMemory memory_;
  WallSpan spin_, death_check_;
  int side_;
  MirroredView out_, in_;
  // The sender's:
  Watch sender_;
  std::uint32_t tail_ = 0;       // committed
  std::uint32_t published_ = 0;  // what the peer knows of it
  std::uint32_t reserved_ = 0;   // payload bytes of the frame that is being filled
  std::uint32_t peer_head_ = 0;  // as last seen
  // The receiver's:
  Watch receiver_;
  std::uint32_t head_ = 0;       // given back
  std::uint32_t told_head_ = 0;  // what the peer knows of it
  std::uint32_t current_ = 0;    // bytes of the frame handed out
  std::uint32_t peer_tail_ = 0;  // as last seen
};

}  // namespace isochron::link
