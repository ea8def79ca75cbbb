#pragma once
// Something for each link of a program. A program may have many links and most have few, so that there are as many as
// were ever asked for.
//
// Promises: references stay good while it grows. Cost: allocates when a link is asked for first.

#include <cstddef>
#include <cstdint>
#include <deque>

namespace isochron::programs {

template <class T>
class PerLink {
 public:
  PerLink() = default;
  explicit PerLink(std::size_t size) : items_(size) {}
  T& operator[](std::uint32_t link) {
    if (link >= items_.size()) items_.resize(link + 1);
    return items_[link];
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(items_.size()); }

 private:
  std::deque<T> items_;
};

}  // namespace isochron::programs
