#pragma once
// A vector of one pointer. Most lists in a message are absent in most messages, and a MAP has thousands of places where
// one could be: with std::vector's 24 octets for each, a decoder spends its time clearing and copying nothing.
//
// Promises: as std::vector, for what it has. Grows exactly as asked by resize(), by doubling in push_back().
// Cost:     sizeof(void*); empty never allocates.

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "core/ensure.hpp"

namespace isochron::v2x {

template <class T>
class List {
 public:
  using value_type = T;

  List() = default;
  List(std::initializer_list<T> items) {
    reserve(static_cast<std::uint32_t>(items.size()));
    for (const T& item : items) push_back(item);
  }
  List(const List& other) {
    if (other.empty()) return;
    reserve(other.head_->size);
    std::uninitialized_copy(other.begin(), other.end(), begin());
    head_->size = other.head_->size;
  }
  List(List&& other) noexcept : head_(std::exchange(other.head_, nullptr)) {}
  List& operator=(List other) noexcept {
    std::swap(head_, other.head_);
    return *this;
  }
  ~List() {
    if (head_ != nullptr) release();
  }

  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] std::size_t size() const { return head_ == nullptr ? 0 : head_->size; }
  [[nodiscard]] T* begin() { return items(head_); }
  [[nodiscard]] T* end() { return begin() + size(); }
  [[nodiscard]] const T* begin() const { return items(head_); }
  [[nodiscard]] const T* end() const { return begin() + size(); }
  [[nodiscard]] T& operator[](std::size_t i) { return begin()[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const { return begin()[i]; }

  [[nodiscard]] T& at(std::size_t i) {
    ENSURE(i < size(), "beyond the end of a list");
    return begin()[i];
  }
  [[nodiscard]] const T& at(std::size_t i) const {
    ENSURE(i < size(), "beyond the end of a list");
    return begin()[i];
  }
  [[nodiscard]] T& back() { return at(size() - 1); }
  [[nodiscard]] const T& back() const { return at(size() - 1); }

  T& emplace_back() {
    push_back(T());
    return back();
  }
  void push_back(T item) {
    if (head_ == nullptr || head_->size == head_->capacity) reserve(std::max<std::uint32_t>(2 * capacity(), 2));
    new (end()) T(std::move(item));
    ++head_->size;
  }
  /// Appends default values; only ever grows.
  void resize(std::size_t n) {
    if (n <= size()) return;
    if (n > capacity()) reserve(static_cast<std::uint32_t>(n));
    if constexpr (std::is_class_v<T>) {
      std::uninitialized_default_construct(end(), begin() + n);  // its members say what they begin with
    } else {
      std::uninitialized_value_construct(end(), begin() + n);
    }
    head_->size = static_cast<std::uint32_t>(n);
  }
  void clear() { *this = List(); }

  friend bool operator==(const List& a, const List& b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

 private:
  struct alignas(16) Head {
    std::uint32_t size;
    std::uint32_t capacity;
  };
  static_assert(alignof(T) <= alignof(Head));
  static T* items(Head* head) { return head == nullptr ? nullptr : reinterpret_cast<T*>(head + 1); }
  [[nodiscard]] std::uint32_t capacity() const { return head_ == nullptr ? 0 : head_->capacity; }

  void reserve(std::uint32_t n) {
    if (n <= capacity()) return;
    auto* fresh = static_cast<Head*>(::operator new(sizeof(Head) + n * sizeof(T)));
    *fresh = {static_cast<std::uint32_t>(size()), n};
    std::uninitialized_move(begin(), end(), items(fresh));
    if (head_ != nullptr) release();
    head_ = fresh;
  }
  void release() {
    std::destroy(begin(), end());
    ::operator delete(head_);
  }

  Head* head_ = nullptr;
};

}  // namespace isochron::v2x
