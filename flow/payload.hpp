#pragma once
// What a flow carries, with its type put aside: how big it is, how it is made, copied, hashed and turned into bytes.
// Two kinds of types travel:
//
//   flat     trivially copyable: its memory is its value. It is written once, in place, and read where it lies, by
//            other threads and even by other processes. 64 B or 1 MB cost the same.
//   message  anything declared with ISOCHRON_MESSAGE (core/message.hpp), with strings and vectors too. In one process
//            it is read in place as well; between processes it travels as CDR.
//
// Promises: payload_type<T>() is one object for each T, so that types are compared by address within a program and by
//           `id` between programs. Bytes of a flat type have no padding garbage where the compiler can clear it.
// Cost:     encode and digest of flat types never allocate; a message's vectors keep their room from use to use.

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "core/cdr.hpp"
#include "core/schema.hpp"
#include "flow/digest.hpp"

namespace isochron::flow {

struct PayloadType {
  std::string name;      // the message's name, or the compiler's for a plain struct
  std::string schema;    // ros2msg text of a message; "" for a plain struct
  std::uint64_t id = 0;  // of name and size: equal in all programs built by one compiler
  std::size_t size = 0;
  std::size_t align = 0;
  bool flat = false;
  void (*construct)(void* at) = nullptr;
  void (*destroy)(void* at) = nullptr;
  void (*assign)(void* to, const void* from) = nullptr;
  std::size_t (*encoded_size)(const void* value) = nullptr;
  void (*encode)(const void* value, std::span<std::byte> to) = nullptr;  // exactly encoded_size() bytes
  bool (*decode)(void* value, std::span<const std::byte> from) = nullptr;
  std::uint64_t (*digest)(std::uint64_t hash, const void* value) = nullptr;
};

template <class T>
concept Flat = std::is_trivially_copyable_v<T> && std::is_default_constructible_v<T>;
template <class T>
concept Payload = Flat<T> ||(Message<T>&& std::is_default_constructible_v<T>);

/// Padding between fields would put garbage into digests and wires.
template <class T>
inline void clear_padding([[maybe_unused]] T& value) {
#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
  if constexpr (Flat<T>) __builtin_clear_padding(&value);
#endif
#endif
}

namespace payload {

template <class T>
std::size_t encoded_size(const void* value) {
  if constexpr (Message<T>) {
    return cdr_size(*static_cast<const T*>(value));
  } else {
    return sizeof(T);
  }
}

template <class T>
void encode(const void* value, std::span<std::byte> to) {
  if constexpr (Message<T>) {
    cdr_write(*static_cast<const T*>(value), to);
  } else {
    std::memcpy(to.data(), value, sizeof(T));
  }
}

template <class T>
bool decode(void* value, std::span<const std::byte> from) {
  if constexpr (Message<T>) {
    auto read = cdr_read<T>(from);
    if (!read.ok()) return false;
    *static_cast<T*>(value) = std::move(read).value();
    clear_padding(*static_cast<T*>(value));
    return true;
  } else {
    if (from.size() != sizeof(T)) return false;
    std::memcpy(value, from.data(), sizeof(T));
    return true;
  }
}

template <class T>
std::uint64_t digest(std::uint64_t hash, const void* value) {
  if constexpr (Flat<T>) {
    return mix_bytes(hash, value, sizeof(T));
  } else {
    thread_local std::vector<std::byte> bytes;
    bytes.resize(encoded_size<T>(value));
    encode<T>(value, bytes);
    return mix_bytes(hash, bytes.data(), bytes.size());
  }
}

template <class T>
PayloadType describe() {
  PayloadType type;
  if constexpr (Message<T>) {
    type.name = message_name<T>();
    type.schema = ros2msg_schema<T>();
  } else {
    type.name = typeid(T).name();
  }
  type.id = mix(mix_bytes(1, type.name.data(), type.name.size()), sizeof(T));
  type.size = sizeof(T);
  type.align = alignof(T);
  type.flat = Flat<T>;
  type.construct = [](void* at) { clear_padding(*new (at) T{}); };
  type.destroy = [](void* at) { static_cast<T*>(at)->~T(); };
  type.assign = [](void* to, const void* from) { *static_cast<T*>(to) = *static_cast<const T*>(from); };
  type.encoded_size = &encoded_size<T>;
  type.encode = &encode<T>;
  type.decode = &decode<T>;
  type.digest = &digest<T>;
  return type;
}

}  // namespace payload

/// One value on the heap.
inline void* new_payload(const PayloadType& type) {
  void* block = ::operator new (type.size, std::align_val_t{type.align});
  type.construct(block);
  return block;
}
inline void delete_payload(const PayloadType& type, void* block) {
  type.destroy(block);
  ::operator delete (block, std::align_val_t{type.align});
}

template <Payload T>
const PayloadType& payload_type() {
  static const PayloadType type = payload::describe<T>();
  return type;
}

}  // namespace isochron::flow
