#pragma once
// Bytes that are pushed at the back and taken from the front.

#include <cstddef>
#include <span>
#include <vector>

namespace isochron {

class ByteQueue {
 public:
  [[nodiscard]] std::size_t size() const { return bytes_.size() - taken_; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  void push(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  [[nodiscard]] std::vector<std::byte> take(std::size_t n) {
    const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(taken_);
    std::vector<std::byte> front(begin, begin + static_cast<std::ptrdiff_t>(n));
    taken_ += n;
    if (taken_ >= bytes_.size() / 2) {  // moved rarely enough that each byte moves about once
      bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(taken_));
      taken_ = 0;
    }
    return front;
  }
  void clear() {
    bytes_.clear();
    taken_ = 0;
  }

 private:
  std::vector<std::byte> bytes_;
  std::size_t taken_ = 0;
};

}  // namespace isochron
