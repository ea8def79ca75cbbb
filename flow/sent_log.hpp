#pragma once
// All that a node has sent, in a file, for neighbours that are lost and started again: they have to hear it from the
// beginning, and channels keep only what was not consumed.
//
//     payload size u32 │ flow u32 │ time i64 │ next i64 │ payload        one after the other, in the order of sending
//
// Whoever reads goes through it once, from the beginning, and skips other flows: there is no index.
//
// Promises: the messages of a flow have the numbers 0, 1, 2 … that they have in its channels.
// Threads:  owner thread. Cost: a copy of each message, a write for every 256 KB; nothing else is kept in memory.
// Fails:    sent() throws with the file's name where the disk is full: a node that cannot be caught up with must end.

#include <memory>
#include <vector>

#include "core/disk.hpp"
#include "flow/sent_observer.hpp"

namespace isochron::flow {

class SentLog final : public SentObserver {
 public:
  /// What is sent is passed on to `next`, if there is one.
  SentLog(std::unique_ptr<File> file, SentObserver* next) : file_(std::move(file)), next_(next) {}

  void sent(const Sent& message) override;

  struct Entry {
    SimTime time;
    SimTime next;
    std::span<const std::byte> payload;  // until the reader is used again
  };
  /// Goes through the messages of one flow. The log must outlive it.
  class Reader {
   public:
    Reader(SentLog& log, std::uint32_t flow) : log_(&log), flow_(flow) {}
    /// The number of the message that take() gives.
    [[nodiscard]] std::uint64_t number() const { return number_; }
    /// Requires: it was sent. Fails: throws what the disk says.
    Entry take();

   private:
    std::span<const std::byte> at_least(std::size_t size);

    SentLog* log_;
    std::uint32_t flow_;
    std::uint64_t number_ = 0;
    std::uint64_t offset_ = 0;  // in the file, of what `block_` does not have yet
    std::vector<std::byte> block_;
    std::size_t begin_ = 0;  // of what was not taken yet, in the block
  };

 private:
  void flush();

  std::unique_ptr<File> file_;
  SentObserver* next_;
  std::vector<std::byte> tail_;  // not in the file yet
  std::uint64_t written_ = 0;    // bytes in the file
};

}  // namespace isochron::flow
