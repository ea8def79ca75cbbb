#pragma once
// Several variables in one request. Whoever reads names their numbers; what is read or written follows one another,
// each with its number and size in front. All of them are of one time, and of what is written all is accepted, or
// nothing.
//
//     asked for    count | index index …                        (u32 each)
//     values       index size bytes | index size bytes | …      (u32, u32, as many bytes)
//
// Reading never trusts: what is cut off or nonsense ends it, and ok() is false.
//
// Threads: any. Cost: no heap; values are views.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace isochron::protocol {

/// As the index of a read or a write: several, which the payload names.
inline constexpr std::uint32_t several = UINT32_MAX;
inline constexpr std::size_t items_max = 256;
inline constexpr std::size_t item_head = 8;

/// Which variables are asked for.
class ItemList {
 public:
  /// False: there is no room for more.
  bool add(std::uint32_t index) {
    if (count_ == items_max) return false;
    words_[++count_] = index;
    words_[0] = count_;
    return true;
  }
  [[nodiscard]] std::span<const std::uint32_t> indexes() const { return {words_.data() + 1, count_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_).first(count_ + 1)); }
  static std::optional<ItemList> read(std::span<const std::byte> payload) {
    ItemList list;
    std::uint32_t count = 0;
    if (payload.size() < sizeof count) return std::nullopt;
    std::memcpy(&count, payload.data(), sizeof count);
    if (count > items_max || payload.size() < (count + std::size_t{1}) * sizeof count) return std::nullopt;
    list.count_ = count;
    std::memcpy(list.words_.data(), payload.data(), (count + std::size_t{1}) * sizeof count);
    list.words_[0] = count;  // whoever changed it meanwhile
    return list;
  }

 private:
  std::uint32_t count_ = 0;
  std::array<std::uint32_t, items_max + 1> words_{};
};

struct Item {
  std::uint32_t index = 0;
  std::span<const std::byte> bytes;
};

class ItemReader {
 public:
  explicit ItemReader(std::span<const std::byte> payload) : rest_(payload) {}
  /// The next value; nothing at the end, or where the rest is no value.
  std::optional<Item> next() {
    if (rest_.empty()) return std::nullopt;
    std::uint32_t head[2] = {};
    if (rest_.size() >= item_head) std::memcpy(head, rest_.data(), item_head);
    if (rest_.size() < item_head || rest_.size() - item_head < head[1] || count_ == items_max) {
      ok_ = false;
      rest_ = {};
      return std::nullopt;
    }
    ++count_;
    const Item item{head[0], rest_.subspan(item_head, head[1])};
    rest_ = rest_.subspan(item_head + head[1]);
    return item;
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  std::span<const std::byte> rest_;
  std::size_t count_ = 0;
  bool ok_ = true;
};

/// The values of an answer or a write, one or several: calls use(index, bytes) for each. False: the rest is no value.
template <class Use>
bool for_each_item(std::uint32_t index, std::span<const std::byte> payload, Use&& use) {
  if (index != several) return use(index, payload), true;
  ItemReader items(payload);
  while (const auto item = items.next()) use(item->index, item->bytes);
  return items.ok();
}

class ItemWriter {
 public:
  explicit ItemWriter(std::span<std::byte> room) : room_(room) {}
  /// Room for a value of this size; nothing where it does not fit.
  std::optional<std::span<std::byte>> add(std::uint32_t index, std::size_t size) {
    if (room_.size() - used_ < item_head || room_.size() - used_ - item_head < size) return std::nullopt;
    last_ = used_;
    const std::uint32_t head[2] = {index, static_cast<std::uint32_t>(size)};
    std::memcpy(room_.data() + used_, head, item_head);
    used_ += item_head + size;
    return room_.subspan(used_ - size, size);
  }
  /// The value added last has only so many bytes.
  void cut(std::size_t size) {
    const auto length = static_cast<std::uint32_t>(size);
    std::memcpy(room_.data() + last_ + sizeof length, &length, sizeof length);
    used_ = last_ + item_head + size;
  }
  [[nodiscard]] std::size_t size() const { return used_; }

 private:
  std::span<std::byte> room_;
  std::size_t used_ = 0, last_ = 0;
};

}  // namespace isochron::protocol
