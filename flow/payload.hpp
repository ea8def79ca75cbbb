#pragma once
// What a flow carries, with its type put aside: how big it is, how it is made, copied, hashed and turned into bytes.
// Two kinds of types travel:
//
//   flat     trivially copyable: its memory is its value. It is written once, in place, and read where it lies, by
//            other threads and even by other processes. 64 B or 1 MB cost the same.
//   message  anything declared with ISOCHRON_MESSAGE (core/message.hpp), with strings and vectors too. In one process
//            it is read in place as well; between processes it travels as CDR.
//
// Two types are the same if their `id` is: messages by name and definition, numbers by their kind, plain structs by the
// compiler's name and size. If their `memory` is the same too they share messages in place; if not (a node in C and one
// in C++, say), messages between them travel as CDR even within a process.
//
// Promises: payload_type<T>() is one object for each T. Bytes of a flat type have no padding garbage where the compiler
//           can clear it.
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
  std::string name;          // the message's name, or the compiler's for a plain struct
  std::string schema;        // ros2msg text of a message; "" for a plain struct
  std::uint64_t id = 0;      // of name and definition: the same in all programs and languages
  std::uint64_t memory = 0;  // of how a value lies in memory
  std::size_t size = 0;
  std::size_t align = 0;
  bool flat = false;
  const void* definition = nullptr;  // of types that are made while the program runs: what their functions need

  /// Each is handed the type itself first.
  struct Functions {
    void (*construct)(const PayloadType&, void* at) = nullptr;
    void (*destroy)(const PayloadType&, void* at) = nullptr;
    void (*assign)(const PayloadType&, void* to, const void* from) = nullptr;
    std::size_t (*encoded_size)(const PayloadType&, const void* value) = nullptr;
    void (*encode)(const PayloadType&, const void* value, std::span<std::byte> to) = nullptr;
    bool (*decode)(const PayloadType&, void* value, std::span<const std::byte> from) = nullptr;
    std::uint64_t (*digest)(const PayloadType&, std::uint64_t hash, const void* value) = nullptr;
    void (*poison)(const PayloadType&, void* value, unsigned char pattern) = nullptr;
  };
  Functions functions;

  void construct(void* at) const { functions.construct(*this, at); }
  void destroy(void* at) const { functions.destroy(*this, at); }
  void assign(void* to, const void* from) const { functions.assign(*this, to, from); }
  [[nodiscard]] std::size_t encoded_size(const void* value) const { return functions.encoded_size(*this, value); }
  /// Requires: exactly encoded_size() bytes.
  void encode(const void* value, std::span<std::byte> to) const { functions.encode(*this, value, to); }
  [[nodiscard]] bool decode(void* value, std::span<const std::byte> from) const {
    return functions.decode(*this, value, from);
  }
  [[nodiscard]] std::uint64_t digest(std::uint64_t hash, const void* value) const {
    return functions.digest(*this, hash, value);
  }
  /// Every field becomes something that nobody would set.
  void poison(void* value, unsigned char pattern) const { functions.poison(*this, value, pattern); }
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

/// `size` is that of types without a definition, else 0.
inline std::uint64_t id_of(const std::string& name, const std::string& schema, std::size_t size) {
  return mix(mix_bytes(mix_bytes(1, name.data(), name.size()), schema.data(), schema.size()), size);
}

template <class T>
std::size_t encoded_size(const PayloadType&, const void* value) {
  if constexpr (Message<T>) {
    return cdr_size(*static_cast<const T*>(value));
  } else {
    return sizeof(T);
  }
}

template <class T>
void encode(const PayloadType&, const void* value, std::span<std::byte> to) {
  if constexpr (Message<T>) {
    cdr_write(*static_cast<const T*>(value), to);
  } else {
    std::memcpy(to.data(), value, sizeof(T));
  }
}

template <class T>
bool decode(const PayloadType&, void* value, std::span<const std::byte> from) {
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
std::uint64_t digest(const PayloadType& type, std::uint64_t hash, const void* value) {
  if constexpr (Flat<T>) {
    return mix_bytes(hash, value, type.size);
  } else {
    thread_local std::vector<std::byte> bytes;
    bytes.resize(type.encoded_size(value));
    type.encode(value, bytes);
    return mix_bytes(hash, bytes.data(), bytes.size());
  }
}

/// Where each number of a flat message lies: size and offset of all of them, in the order of the definition.
template <class T>
std::uint64_t add_layout(std::uint64_t hash, std::size_t offset) {
  if constexpr (is_std_array<T>::value) {
    for (std::size_t i = 0; i < std::tuple_size_v<T>; ++i) {
      hash = add_layout<typename T::value_type>(hash, offset + i * sizeof(typename T::value_type));
    }
    return hash;
  } else if constexpr (Message<T>) {
    const T message{};
    for_each_field(message, [&](const char*, const auto& field) {
      const auto* from = reinterpret_cast<const std::byte*>(&message);
      const auto* at = reinterpret_cast<const std::byte*>(&field);
      hash = add_layout<std::remove_cvref_t<decltype(field)>>(hash, offset + static_cast<std::size_t>(at - from));
    });
    return hash;
  } else {
    return mix(hash, offset, sizeof(T));
  }
}

template <class T>
std::uint64_t memory_of_type() {
  if constexpr (Flat<T> && (Message<T> || std::is_arithmetic_v<T>)) {
    return mix(add_layout<T>(7, 0), sizeof(T), alignof(T));
  } else {
    const std::string name = typeid(T).name();
    return mix(mix_bytes(9, name.data(), name.size()), sizeof(T), alignof(T));
  }
}

template <class T>
void poison_field(T& value, unsigned char pattern) {
  if constexpr (Message<T>) {
    for_each_field(value, [pattern](const char*, auto& field) { poison_field(field, pattern); });
  } else if constexpr (std::is_same_v<T, std::string>) {
    value.assign(1 + pattern % 5, '~');
  } else if constexpr (is_std_vector<T>::value) {
    value.resize(1 + pattern % 3);
    if constexpr (!std::is_same_v<T, std::vector<bool>>) {
      for (auto& element : value) poison_field(element, pattern);
    }
  } else if constexpr (is_std_array<T>::value) {
    for (auto& element : value) poison_field(element, pattern);
  } else if constexpr (std::is_same_v<T, bool>) {
    value = pattern % 2 != 0;
  } else if constexpr (std::is_same_v<T, SimTime>) {
    value = SimTime::from_ns(pattern);
  } else {
    std::memset(static_cast<void*>(&value), pattern, sizeof value);
  }
}

template <class T>
void poison(const PayloadType&, void* value, unsigned char pattern) {
  if constexpr (Message<T>) {
    poison_field(*static_cast<T*>(value), pattern);
  } else {
    std::memset(value, pattern, sizeof(T));
  }
}

template <class T>
PayloadType describe() {
  PayloadType type;
  if constexpr (Message<T>) {
    type.name = message_name<T>();
    type.schema = ros2msg_schema<T>();
  } else if constexpr (std::is_arithmetic_v<T>) {
    type.name = schema::type_text<T>();
  } else {
    type.name = typeid(T).name();
  }
  type.id = id_of(type.name, type.schema, Message<T> ? 0 : sizeof(T));
  type.memory = memory_of_type<T>();
  type.size = sizeof(T);
  type.align = alignof(T);
  type.flat = Flat<T>;
  type.functions = {
      [](const PayloadType&, void* at) { clear_padding(*new (at) T{}); },
      [](const PayloadType&, void* at) { static_cast<T*>(at)->~T(); },
      [](const PayloadType&, void* to, const void* from) { *static_cast<T*>(to) = *static_cast<const T*>(from); },
      &encoded_size<T>,
      &encode<T>,
      &decode<T>,
      &digest<T>,
      &poison<T>};
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
