#pragma once
// Memory for the channels and nodes of one system: taken piece by piece at set-up, given back all at once. Private to
// this process, or shared with the children that it forks later, at the same addresses in all of them.
//
// Cost: take() allocates (pages, rarely); nothing else does. Fails: throws std::bad_alloc when the system has no
// memory.

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace isochron::flow {

class Arena {
 public:
  enum class Kind { own, shared };
  explicit Arena(Kind kind = Kind::own) : kind_(kind) {}
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Zeroed bytes at a multiple of `align` (a power of two, at most a page).
  void* take(std::size_t size, std::size_t align);

  template <class T, class... Args>
  T* make(Args&&... args) {
    return new (take(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }
  template <class T>
  T* make_array(std::size_t n) {
    T* first = static_cast<T*>(take(sizeof(T) * n, alignof(T)));
    for (std::size_t i = 0; i < n; ++i) new (first + i) T();
    return first;
  }

  [[nodiscard]] bool shared() const { return kind_ == Kind::shared; }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  struct Chunk {
    std::byte* memory;
    std::size_t size;
  };
  Kind kind_;
  std::vector<Chunk> chunks_;
  std::size_t next_ = 0;  // in the last chunk
  std::size_t used_ = 0;
};

}  // namespace isochron::flow
