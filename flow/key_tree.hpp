#pragma once
// The least of a node's keys, kept by a tournament: one leaf for each port, each match remembers its winner, so that a
// changed key costs one match on each level. A node with two ports plays one match, one with a thousand plays ten.
//
//            w          keys are (time, phase, index), packed so that they compare as one number
//          /   \        (core/order.hpp says what each phase means)
//         w     w
//        / \   / \ .
//       k0 k1 k2 k3
//
// Threads: owner thread. Cost: never allocates.

#include <bit>
#include <cstdint>

#include "core/order.hpp"

namespace isochron::flow {

using Key = unsigned __int128;
inline constexpr std::uint64_t key_sign = 1ULL << 63;  // makes signed times compare as unsigned numbers
inline constexpr Key key_never = ~Key{0};

constexpr Key pack(OrderKey key) {
  return (Key{static_cast<std::uint64_t>(key.time.ns()) ^ key_sign} << 64) |
         (std::uint64_t{static_cast<std::uint8_t>(key.phase)} << 32) | key.index;
}
constexpr SimTime key_time(Key key) {
  return SimTime::from_ns(static_cast<std::int64_t>(static_cast<std::uint64_t>(key >> 64) ^ key_sign));
}

class KeyTree {
 public:
  /// How many keys and how many winners `leaves` leaves need.
  [[nodiscard]] static std::uint32_t width(std::uint32_t leaves) { return std::bit_ceil(leaves == 0 ? 1U : leaves); }

  /// `keys` and `winners` have width() entries each and outlive the tree.
  void lay_out(std::uint32_t width, Key* keys, std::uint32_t* winners) {
    width_ = width;
    keys_ = keys;
    winners_ = winners;
    for (std::uint32_t i = 0; i < width; ++i) keys_[i] = key_never;
    for (std::uint32_t i = 0; i < width; ++i) winners_[i] = 0;
    for (std::uint32_t i = width - 1; i > 0; --i) play(i);
  }

  [[nodiscard]] std::uint32_t least() const { return width_ == 1 ? 0 : winners_[1]; }
  [[nodiscard]] Key key(std::uint32_t leaf) const { return keys_[leaf]; }

  void set(std::uint32_t leaf, Key key) {
    keys_[leaf] = key;
    for (std::uint32_t match = (leaf + width_) / 2; match > 0; match /= 2) play(match);
  }

 private:
  [[nodiscard]] std::uint32_t winner(std::uint32_t place) const {
    return place >= width_ ? place - width_ : winners_[place];
  }
  void play(std::uint32_t match) {
    const std::uint32_t left = winner(2 * match);
    const std::uint32_t right = winner(2 * match + 1);
    winners_[match] = keys_[right] < keys_[left] ? right : left;
  }

  std::uint32_t width_ = 0;
  Key* keys_ = nullptr;
  std::uint32_t* winners_ = nullptr;
};

}  // namespace isochron::flow
