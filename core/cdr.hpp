#pragma once
// A message's bytes: CDR, little endian, behind the four bytes of its encapsulation header. Primitive values stand at
// multiples of their own size, counted from after the header.
//
// Promises: cdr_read(cdr_write(m)) == m; the bytes of a message are a function of its values (no padding garbage), so
//           they can be hashed and compared. Reading never goes beyond the bytes given, whatever is in them.
// Cost:     cdr_write into a given buffer never allocates; one memcpy for an array of numbers.

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>

#include "core/message.hpp"
#include "core/result.hpp"

namespace isochron {

static_assert(std::endian::native == std::endian::little, "Isochron writes its own memory as little-endian CDR");

inline constexpr std::size_t cdr_header_size = 4;

namespace cdr {

template <class T>
concept Number = std::is_arithmetic_v<T>;

constexpr std::size_t align(std::size_t at, std::size_t size) { return (at + size - 1) & ~(size - 1); }

/// Walks a message and counts (null target) or writes.
class Writer {
 public:
  explicit Writer(std::byte* target) : target_(target) {}
  [[nodiscard]] std::size_t size() const { return at_; }

  template <Number T>
  void put(T value) {
    pad(sizeof(T));
    copy(&value, sizeof(T));
  }
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size() + 1));
    copy(text.c_str(), text.size() + 1);
  }
  void put(SimTime time) {
    const std::int64_t ns = time.ns();
    const std::int64_t seconds = ns / 1'000'000'000 - (ns % 1'000'000'000 < 0 ? 1 : 0);
    put(static_cast<std::int32_t>(seconds));
    put(static_cast<std::uint32_t>(ns - seconds * 1'000'000'000));
  }
  template <class T, std::size_t n>
  void put(const std::array<T, n>& values) {
    put_elements(values.data(), n);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint32_t>(values.size()));
    put_elements(values.data(), values.size());
  }
  template <Message T>
  void put(const T& message) {
    for_each_field(message, [this](const char*, const auto& value) { this->put(value); });
  }

 private:
  template <class T>
  void put_elements(const T* values, std::size_t n) {
    if constexpr (Number<T>) {
      if (n == 0) return;
      pad(sizeof(T));
      copy(values, n * sizeof(T));
    } else {
      for (std::size_t i = 0; i < n; ++i) put(values[i]);
    }
  }
  void pad(std::size_t size) {
    const std::size_t next = align(at_, size);
    if (target_ != nullptr) std::memset(target_ + at_, 0, next - at_);
    at_ = next;
  }
  void copy(const void* from, std::size_t size) {
    if (target_ != nullptr) std::memcpy(target_ + at_, from, size);
    at_ += size;
  }
  std::byte* target_;
  std::size_t at_ = 0;
};

/// Walks a message and fills it; after the first value that does not fit, ok() is false and nothing more is read.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool ok() const { return ok_; }

  template <Number T>
  void get(T& value) {
    if (!room(sizeof(T), 1)) return;
    if constexpr (std::is_same_v<T, bool>) {
      value = bytes_[at_] != std::byte{0};
    } else {
      std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    }
    at_ += sizeof(T);
  }
  void get(std::string& text) {
    std::uint32_t size = 0;
    get(size);
    if (!ok_) return;
    if (size == 0 || !room(1, size)) return refuse();
    text.assign(reinterpret_cast<const char*>(bytes_.data() + at_), size - 1);
    at_ += size;
  }
  void get(SimTime& time) {
    std::int32_t seconds = 0;
    std::uint32_t nanoseconds = 0;
    get(seconds);
    get(nanoseconds);
    if (ok_ && nanoseconds >= 1'000'000'000) return refuse();
    time = SimTime::from_ns(static_cast<std::int64_t>(seconds) * 1'000'000'000 + nanoseconds);
  }
  template <class T, std::size_t n>
  void get(std::array<T, n>& values) {
    get_elements(values.data(), n);
  }
  template <class T>
  void get(std::vector<T>& values) {
    std::uint32_t size = 0;
    get(size);
    // Every element takes at least one byte: a length that lies cannot make us allocate more than was sent.
    if (!ok_) return;
    if (size > bytes_.size() - at_) return refuse();
    values.resize(size);
    get_elements(values.data(), size);
  }
  template <Message T>
  void get(T& message) {
    for_each_field(message, [this](const char*, auto& value) {
      if (ok_) this->get(value);
    });
  }

 private:
  template <class T>
  void get_elements(T* values, std::size_t n) {
    if constexpr (Number<T> && !std::is_same_v<T, bool>) {
      if (n == 0 || !room(sizeof(T), n)) return;
      std::memcpy(values, bytes_.data() + at_, n * sizeof(T));
      at_ += n * sizeof(T);
    } else {
      for (std::size_t i = 0; i < n && ok_; ++i) get(values[i]);
    }
  }
  /// Aligns, and checks that n values of that size are there.
  bool room(std::size_t size, std::size_t n) {
    const std::size_t next = align(at_, size);
    if (!ok_ || next > bytes_.size() || n > (bytes_.size() - next) / size) {
      refuse();
      return false;
    }
    at_ = next;
    return true;
  }
  void refuse() { ok_ = false; }
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace cdr

template <Message T>
std::size_t cdr_size(const T& message) {
  cdr::Writer counter(nullptr);
  counter.put(message);
  return cdr_header_size + counter.size();
}

/// Requires: target.size() >= cdr_size(message). Returns the bytes used.
template <Message T>
std::size_t cdr_write(const T& message, std::span<std::byte> target) {
  static constexpr std::array<std::byte, cdr_header_size> header{std::byte{0}, std::byte{1}, std::byte{0},
                                                                 std::byte{0}};
  std::memcpy(target.data(), header.data(), header.size());
  cdr::Writer writer(target.data() + cdr_header_size);
  writer.put(message);
  return cdr_header_size + writer.size();
}

template <Message T>
std::vector<std::byte> cdr_bytes(const T& message) {
  std::vector<std::byte> bytes(cdr_size(message));
  cdr_write(message, bytes);
  return bytes;
}

enum class CdrFault { too_short, not_little_endian_cdr, bad_value };

template <Message T>
Result<T, CdrFault> cdr_read(std::span<const std::byte> bytes) {
  if (bytes.size() < cdr_header_size) return fail(CdrFault::too_short);
  if (bytes[0] != std::byte{0} || bytes[1] != std::byte{1}) return fail(CdrFault::not_little_endian_cdr);
  T message{};
  cdr::Reader reader(bytes.subspan(cdr_header_size));
  reader.get(message);
  if (!reader.ok()) return fail(CdrFault::bad_value);
  return message;
}

}  // namespace isochron
