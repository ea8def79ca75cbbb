#pragma once
// Messages between programs, held to their time: nobody receives one before it was sent. Between two CPUs a message
// takes one nanosecond, which is what makes the order between them unambiguous; see schedule.hpp.
//
// Promises: messages come out by (time of arrival, CPU and order of the sender), never by when they were handed in.
// Threads:  the coordinator's.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/time.hpp"

namespace isochron::coordinator {

struct Letter {
  SimTime arrives;
  SimTime sent;
  std::uint32_t from = 0;  // program
  std::uint64_t order = 0;
  std::string type;
  std::vector<std::byte> bytes;
  friend bool operator<(const Letter& a, const Letter& b) {
    return std::tie(a.arrives, a.sent, a.from, a.order) < std::tie(b.arrives, b.sent, b.from, b.order);
  }
};

inline constexpr std::uint32_t anybody = UINT32_MAX;

class Mailbox {
 public:
  /// False: it is full, which means that nobody reads it.
  bool put(Letter letter) {
    if (letters_.size() >= most) return false;
    letters_.insert(std::move(letter));
    return true;
  }
  /// When the first letter from there arrives or arrived; never() = there is none.
  [[nodiscard]] SimTime first(std::uint32_t from) const {
    const auto found = find(from);
    return found == letters_.end() ? SimTime::never() : found->arrives;
  }
  /// The first that has arrived.
  std::optional<Letter> take(std::uint32_t from, SimTime now) {
    const auto found = find(from);
    if (found == letters_.end() || found->arrives > now) return std::nullopt;
    return std::move(letters_.extract(found).value());
  }
  /// A look at it, to refuse it without losing it.
  [[nodiscard]] const Letter* peek(std::uint32_t from, SimTime now) const {
    const auto found = find(from);
    return found == letters_.end() || found->arrives > now ? nullptr : &*found;
  }

 private:
  static constexpr std::size_t most = 10000;
  [[nodiscard]] std::set<Letter>::const_iterator find(std::uint32_t from) const {
    auto at = letters_.begin();
    while (at != letters_.end() && from != anybody && at->from != from) ++at;
    return at;
  }
  std::set<Letter> letters_;
};

}  // namespace isochron::coordinator
