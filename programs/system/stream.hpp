#pragma once
// One direction of a pipe or connection: bytes that were sent and come to the other end at their simulated time, and
// the room that the reader gives back, which comes to the writer at its own.
//
//      put(t) ──► | in flight … arrives at t + latency | take(t) ──► room comes back at t + latency
//
// Promises: bytes come out in the order in which they went in; never more than `capacity` are on the way or unread.
// Threads: owner. Cost: allocates for each piece.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/time.hpp"

namespace isochron::programs {

class File;

class Stream {
 public:
  /// `packets`: each piece is taken whole, as of SOCK_SEQPACKET.
  explicit Stream(std::size_t capacity, bool packets = false) : capacity_(capacity), packets_(packets) {}

  [[nodiscard]] std::size_t room(SimTime now) {
    while (!back_.empty() && back_.front().first <= now) {
      held_ -= back_.front().second;
      back_.pop_front();
    }
    return held_ < capacity_ ? capacity_ - held_ : 0;
  }
  void put(std::span<const std::byte> bytes, SimTime arrives) {
    last_ = std::max(last_, arrives);  // nothing overtakes
    pieces_.push_back({last_, {bytes.begin(), bytes.end()}, 0});
    held_ += bytes.size();
  }
  /// Nothing more will come.
  void end(SimTime arrives) {
    last_ = std::max(last_, arrives);
    end_ = std::min(end_, last_);
  }
  /// The other end is gone without reading all: what is here is lost.
  void reset(SimTime arrives) { reset_ = std::min(reset_, arrives); }

  [[nodiscard]] std::size_t available(SimTime now) const {
    std::size_t size = 0;
    for (const Piece& piece : pieces_) {
      if (piece.arrives > now) break;
      size += piece.bytes.size() - piece.taken;
    }
    return size;
  }
  [[nodiscard]] bool has_piece(SimTime now) const { return !pieces_.empty() && pieces_.front().arrives <= now; }
  /// It is known that nothing more will come, whatever was not taken yet.
  [[nodiscard]] bool end_came(SimTime now) const { return end_ <= now; }
  [[nodiscard]] bool ended(SimTime now) const { return end_ <= now && !has_piece(now); }
  [[nodiscard]] bool empty() const { return pieces_.empty(); }

  /// Fills `to`; its room comes back at `back`.
  std::size_t take(std::span<std::byte> to, SimTime now, SimTime back, bool peek) {
    std::size_t size = 0, freed = 0;
    for (auto piece = pieces_.begin(); piece != pieces_.end() && piece->arrives <= now;) {
      const std::size_t part = std::min(to.size() - size, piece->bytes.size() - piece->taken);
      std::copy_n(piece->bytes.begin() + static_cast<std::ptrdiff_t>(piece->taken), part,
                  to.begin() + static_cast<std::ptrdiff_t>(size));
      size += part;
      if (peek) {
        if (packets_ || size == to.size()) break;
        ++piece;
        continue;
      }
      freed += packets_ ? piece->bytes.size() : part;
      piece->taken += part;
      if (packets_ || piece->taken == piece->bytes.size()) piece = pieces_.erase(piece);
      if (packets_ || size == to.size()) break;
    }
    if (freed > 0) back_.emplace_back(back_.empty() ? back : std::max(back, back_.back().first), freed);
    return size;
  }
  /// When the reader finds something new after `now`.
  [[nodiscard]] SimTime next_arrival(SimTime now) const {
    SimTime next = SimTime::never();
    for (const Piece& piece : pieces_) {
      if (piece.arrives <= now) continue;
      next = piece.arrives;
      break;
    }
    if (end_ > now) next = std::min(next, end_);
    if (reset_ > now) next = std::min(next, reset_);
    return next;
  }
  /// When the writer has more room after `now`.
  [[nodiscard]] SimTime next_room(SimTime now) const {
    for (const auto& [at, size] : back_) {
      if (at > now) return at;
    }
    return SimTime::never();
  }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

 private:
  struct Piece {
    SimTime arrives;
    std::vector<std::byte> bytes;
    std::size_t taken = 0;
  };
  std::size_t capacity_;
  bool packets_;
  std::size_t held_ = 0;  // on the way, unread, or read and not known to the writer
  std::deque<Piece> pieces_;
  std::deque<std::pair<SimTime, std::size_t>> back_;
  SimTime last_;
  SimTime end_ = SimTime::never(), reset_ = SimTime::never();
};

}  // namespace isochron::programs
