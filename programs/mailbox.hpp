#pragma once
// Messages between programs, held to their time: nobody receives one before it was sent. Between two CPUs a message
// takes one nanosecond, which is what makes the order between them unambiguous.
//
// Promises: messages come out by (time of arrival, CPU and order of the sender), never by when they were handed in.
// Threads:  the owner's. Cost: allocates for each message.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/time.hpp"
#include "programs/plant_access.hpp"

namespace isochron::protocol {

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

/// Why a program that expects this type and has this much room cannot have the letter, which is lost to it.
[[nodiscard]] inline std::optional<Refusal> cannot_receive(const Letter& letter, const std::string& from,
                                                           const std::string& type, std::size_t room) {
  if (!type.empty() && type != letter.type) {
    return Refusal{Verdict::wrong_type, "receives " + type + " from " + from + ", which sent " + letter.type};
  }
  if (letter.bytes.size() > room) {
    return Refusal{Verdict::too_large, "has room for " + std::to_string(room) + " bytes of a message of " +
                                           std::to_string(letter.bytes.size()) + " from " + from};
  }
  return std::nullopt;
}
[[nodiscard]] inline Refusal nobody_to_send_to(const std::string& name) {
  return {Verdict::unknown_name, name.empty() ? "sends to nobody: name a program, or give it `to:` in the scenario"
                                              : "sends to " + name + ", which is no program of this run"};
}
[[nodiscard]] inline Refusal nobody_to_receive_from(const std::string& name) {
  return {Verdict::unknown_name, "receives from " + name + ", which is no program of this run"};
}
[[nodiscard]] inline Refusal not_its_own(const char* does, const std::string& name) {
  return {Verdict::refused, std::string(does) + " " + name + ", which belongs to another robot"};
}
[[nodiscard]] inline Refusal does_not_read(const std::string& name) {
  return {Verdict::refused, "sends to " + name + ", which does not read its messages"};
}

class Mailbox {
 public:
  [[nodiscard]] bool has_room_for(const Letter& letter) const {
    return letters_.size() < most && bytes_ + letter.bytes.size() <= most_bytes;
  }
  /// False: it is full, which means that nobody reads it.
  bool put(Letter letter) {
    if (!has_room_for(letter)) return false;
    bytes_ += letter.bytes.size();
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
    Letter letter = std::move(letters_.extract(found).value());
    bytes_ -= letter.bytes.size();
    return letter;
  }

 private:
  static constexpr std::size_t most = 10000;
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;
  [[nodiscard]] std::set<Letter>::const_iterator find(std::uint32_t from) const {
    auto at = letters_.begin();
    while (at != letters_.end() && from != anybody && at->from != from) ++at;
    return at;
  }
  std::set<Letter> letters_;
  std::size_t bytes_ = 0;
};

}  // namespace isochron::protocol
