#pragma once
// Random messages of any type, as CDR, for tests.

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/cdr.hpp"
#include "core/random.hpp"
#include "journal/ros2msg.hpp"

namespace isochron::ros2 {

class RandomMessage {
 public:
  RandomMessage(const MessageSchema& schema, std::uint64_t seed) : schema_(schema), random_(seed, "message") {}

  std::vector<std::byte> make() {
    bytes_.assign(4, std::byte{0});
    bytes_[1] = std::byte{1};
    message(0);
    return bytes_;
  }

 private:
  std::uint64_t up_to(std::uint64_t n) { return random_.below(n + 1); }

  void message(std::size_t index) {
    const MessageSchema::Definition& definition = schema_.messages[index];
    for (const SchemaField& field : definition.fields) {
      std::uint32_t count = field.many == SchemaField::Many::fixed ? field.count : 1;
      if (field.many == SchemaField::Many::sequence) {
        count = static_cast<std::uint32_t>(up_to(5));
        put(&count, sizeof count);
      }
      for (std::uint32_t i = 0; i < count; ++i) one(field, definition.name);
    }
  }
  void one(const SchemaField& field, const std::string& inside) {
    if (field.type == FieldType::message) return message(field.message);
    if (field.type == FieldType::text) return text();
    std::uint64_t bits = random_.bits();
    if (field.type == FieldType::boolean) bits &= 1;
    if (inside == "builtin_interfaces/Time" && field.name == "nanosec") bits = up_to(999'999'999);
    put(&bits, size_of(field.type));
  }
  void text() {
    std::string text(up_to(12), ' ');
    for (char& c : text) c = static_cast<char>('a' + up_to(25));
    const auto size = static_cast<std::uint32_t>(text.size() + 1);
    put(&size, sizeof size);
    const auto* from = reinterpret_cast<const std::byte*>(text.c_str());
    bytes_.insert(bytes_.end(), from, from + size);
  }
  void put(const void* value, std::size_t size) {
    bytes_.resize(4 + cdr::align(bytes_.size() - 4, size));
    const auto* from = static_cast<const std::byte*>(value);
    bytes_.insert(bytes_.end(), from, from + size);
  }

  const MessageSchema& schema_;
  RandomStream random_;
  std::vector<std::byte> bytes_;
};

}  // namespace isochron::ros2
