#include "bridge/fmi/fields.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>

#include "core/input_error.hpp"

namespace isochron::fmi {
namespace {

constexpr const char* time_name = "builtin_interfaces/Time";
constexpr std::size_t header = 4;  // of CDR

std::size_t align_up(std::size_t at, std::size_t size) { return (at + size - 1) / size * size; }

bool is_time(const MessageSchema& schema, const SchemaField& field) {
  return field.type == FieldType::message && schema.messages[field.message].name == time_name;
}

struct Extent {
  std::size_t size = 0, align = 1;
};

/// How a message of fixed size lies in memory; nothing where its size is not fixed.
std::optional<Extent> extent_of_message(const MessageSchema& schema, std::size_t message);

std::optional<Extent> extent_of(const MessageSchema& schema, const SchemaField& field) {
  if (field.many == SchemaField::Many::sequence || field.type == FieldType::text) return std::nullopt;
  if (is_time(schema, field)) return Extent{8, 8};  // nanoseconds
  if (field.type == FieldType::message) return extent_of_message(schema, field.message);
  return Extent{size_of(field.type), size_of(field.type)};
}

std::optional<Extent> extent_of_message(const MessageSchema& schema, std::size_t message) {
  Extent all;
  for (const SchemaField& field : schema.messages[message].fields) {
    const auto one = extent_of(schema, field);
    if (!one) return std::nullopt;
    const std::size_t count = field.many == SchemaField::Many::fixed ? field.count : 1;
    all.size = align_up(all.size, one->align) + one->size * count;
    all.align = std::max(all.align, one->align);
  }
  all.size = align_up(all.size, all.align);
  return all;
}

}  // namespace

/// Resolves a path, and the place of the field where messages are of fixed size.
class MessageField::Finder {
 public:
  Finder(const std::string& type, const std::string& path)
      : name_(type.substr(0, type.find('\n'))), path_(path), rest_(path) {
    const std::string text = type.size() > name_.size() ? type.substr(name_.size() + 1) : name_ + " value\n";
    auto schema = parse_ros2msg(name_, text);
    if (!schema) throw InputError({}, "the message " + name_ + " cannot be understood: " + schema.error());
    made_.schema_ = std::move(schema).value();
    made_.flat_ = extent_of_message(made_.schema_, 0).has_value();
    if (text == name_ + " value\n") rest_ = rest_.empty() ? "value" : "";
  }

  MessageField find() {
    if (rest_.empty()) refuse();
    std::size_t message = 0;
    while (true) {
      const auto [index, field] = take_name(message);
      Step step{index, 0};
      const bool element = take_index(step.index);
      if (element && field->many == SchemaField::Many::one) refuse();
      if (element && field->many == SchemaField::Many::fixed && step.index >= field->count) refuse();
      if (made_.flat_) made_.offset_ += offset_in(message, index, step.index);
      made_.steps_.push_back(step);
      if (rest_.empty()) return finish(*field, element);
      if (field->type != FieldType::message || is_time(made_.schema_, *field)) refuse();
      if (field->many != SchemaField::Many::one && !element) refuse();
      message = field->message;
      if (rest_.front() != '.') refuse();
      rest_.remove_prefix(1);
    }
  }

 private:
  MessageField finish(const SchemaField& field, bool element) {
    made_.whole_ = field.many != SchemaField::Many::one && !element;
    made_.type_ = field.type;
    if (field.type == FieldType::message) refuse();
    if (made_.whole_ && field.type == FieldType::text) refuse();
    if (made_.whole_ && field.many == SchemaField::Many::fixed) made_.count_ = field.count;
    made_.bytes_ = made_.whole_ && field.many == SchemaField::Many::sequence;
    if (made_.bytes_ && field.type != FieldType::uint8) refuse();
    return std::move(made_);
  }

  std::pair<std::size_t, const SchemaField*> take_name(std::size_t message) {
    const auto end = std::min(rest_.find_first_of(".["), rest_.size());
    const std::string_view name = rest_.substr(0, end);
    const auto& fields = made_.schema_.messages[message].fields;
    const auto found = std::ranges::find(fields, name, &SchemaField::name);
    if (found == fields.end()) refuse();
    rest_.remove_prefix(end);
    return {static_cast<std::size_t>(found - fields.begin()), &*found};
  }

  bool take_index(std::size_t& index) {
    if (rest_.empty() || rest_.front() != '[') return false;
    const auto [end, code] = std::from_chars(rest_.data() + 1, rest_.data() + rest_.size(), index);
    if (code != std::errc{} || end == rest_.data() + rest_.size() || *end != ']') refuse();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()) + 1);
    return true;
  }

  [[nodiscard]] std::size_t offset_in(std::size_t message, std::size_t field, std::size_t index) const {
    std::size_t at = 0;
    const auto& fields = made_.schema_.messages[message].fields;
    for (std::size_t i = 0;; ++i) {
      const auto one = extent_of(made_.schema_, fields[i]);
      at = align_up(at, one->align);
      if (i == field) return at + index * one->size;
      at += one->size * (fields[i].many == SchemaField::Many::fixed ? fields[i].count : 1);
    }
  }

  [[noreturn]] void refuse() const {
    std::string known;
    for (const SchemaField& field : made_.schema_.messages[0].fields) {
      known += (known.empty() ? "" : ", ") + field.name;
      if (known.size() > 300) break;
    }
    if (path_.empty()) throw InputError({}, "carries " + name_ + "; say which of its fields", "it has " + known);
    throw InputError({}, "carries " + name_ + ", in which `" + path_ + "` is no number or text", "it has " + known);
  }

  std::string name_, path_;
  std::string_view rest_;
  MessageField made_;
};

MessageField MessageField::find(const std::string& type, const std::string& path) { return Finder(type, path).find(); }

/// Goes through the CDR bytes of a message.
class MessageField::Walker {
 public:
  Walker(const MessageField& field, std::span<const std::byte> bytes)
      : field_(field), bytes_(bytes.size() < header ? bytes : bytes.subspan(header)) {}

  std::span<const std::byte> value() {
    std::size_t message = 0;
    for (const Step& step : field_.steps_) {
      const auto& fields = field_.schema_.messages[message].fields;
      for (std::size_t i = 0; i < step.field; ++i) skip(fields[i]);
      const SchemaField& found = fields[step.field];
      const std::size_t count = count_of(found);
      const bool last = &step == &field_.steps_.back();
      if (last && field_.whole_) return take(found.type, count);
      if (step.index >= count) return {};
      for (std::size_t i = 0; i < step.index && good_; ++i) skip_one(found);
      if (last) return take(found.type, 1);
      message = found.message;
    }
    return {};
  }

 private:
  std::size_t count_of(const SchemaField& field) {
    if (field.many == SchemaField::Many::one) return 1;
    return field.many == SchemaField::Many::fixed ? field.count : length();
  }
  std::uint32_t length() {
    std::uint32_t value = 0;
    const auto bytes = take(FieldType::uint32, 1);
    if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::span<const std::byte> take(FieldType type, std::size_t count) {
    if (type == FieldType::text) {
      const std::size_t size = length();
      const auto bytes = take_bytes(1, size);
      return bytes.empty() ? bytes : bytes.first(bytes.size() - 1);
    }
    return take_bytes(size_of(type), count);
  }
  std::span<const std::byte> take_bytes(std::size_t size, std::size_t count) {
    if (count == 0 || !good_) return {};
    const std::size_t at = align_up(at_, size);
    good_ = at <= bytes_.size() && count <= (bytes_.size() - at) / size;
    if (!good_) return {};
    at_ = at + size * count;
    return bytes_.subspan(at, size * count);
  }
  void skip(const SchemaField& field) {
    const std::size_t count = count_of(field);
    const bool numbers = field.type != FieldType::text && field.type != FieldType::message;
    if (numbers) take(field.type, count);
    for (std::size_t i = 0; i < count && !numbers && good_; ++i) skip_one(field);
  }
  void skip_one(const SchemaField& field) {
    if (field.type != FieldType::message) {
      take(field.type, 1);
      return;
    }
    for (const SchemaField& inner : field_.schema_.messages[field.message].fields) {
      if (good_) skip(inner);
    }
  }

  const MessageField& field_;
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

std::span<const std::byte> MessageField::in(std::span<const std::byte> message) const {
  if (!flat_) return Walker(*this, message).value();
  const std::size_t size = size_of(type_) * count_;
  return offset_ + size <= message.size() ? message.subspan(offset_, size) : std::span<const std::byte>{};
}

const char* to_string(FieldType type) {
  static constexpr const char* words[] = {"bool",  "int8",   "uint8",   "int16",   "uint16", "int32",  "uint32",
                                          "int64", "uint64", "float32", "float64", "text",   "message"};
  return words[static_cast<std::size_t>(type)];
}

namespace {

/// Calls f with a value of the type that lies in memory.
template <class F>
void with_type(FieldType type, F&& f) {
  switch (type) {
    case FieldType::boolean:
      return f(bool{});
    case FieldType::int8:
      return f(std::int8_t{});
    case FieldType::uint8:
      return f(std::uint8_t{});
    case FieldType::int16:
      return f(std::int16_t{});
    case FieldType::uint16:
      return f(std::uint16_t{});
    case FieldType::int32:
      return f(std::int32_t{});
    case FieldType::uint32:
      return f(std::uint32_t{});
    case FieldType::int64:
      return f(std::int64_t{});
    case FieldType::uint64:
      return f(std::uint64_t{});
    case FieldType::float32:
      return f(float{});
    case FieldType::float64:
      return f(double{});
    case FieldType::text:
    case FieldType::message:
      return;
  }
}

FieldType field_type(Type type) {
  switch (type) {
    case Type::float32:
      return FieldType::float32;
    case Type::float64:
      return FieldType::float64;
    case Type::int8:
      return FieldType::int8;
    case Type::uint8:
    case Type::binary:
      return FieldType::uint8;
    case Type::int16:
      return FieldType::int16;
    case Type::uint16:
      return FieldType::uint16;
    case Type::int32:
      return FieldType::int32;
    case Type::uint32:
      return FieldType::uint32;
    case Type::int64:
      return FieldType::int64;
    case Type::uint64:
      return FieldType::uint64;
    case Type::boolean:
    case Type::clock:
      return FieldType::boolean;
    case Type::text:
      return FieldType::text;
  }
  return FieldType::message;
}

/// Every value of A is one of B, up to rounding.
template <class A, class B>
constexpr bool holds() {
  constexpr bool truth = std::is_same_v<A, bool> || std::is_same_v<B, bool>;
  if constexpr (truth) return std::is_same_v<A, B>;
  if constexpr (std::is_floating_point_v<B>) {
    return std::is_floating_point_v<A> || std::numeric_limits<A>::digits <= std::numeric_limits<B>::digits;
  }
  if constexpr (std::is_floating_point_v<A>) return false;
  if constexpr (std::is_signed_v<A> && std::is_unsigned_v<B>) return false;
  return std::numeric_limits<A>::digits <= std::numeric_limits<B>::digits;
}

}  // namespace

bool fits(FieldType from, Type to) {
  if (from == FieldType::text || to == Type::text) return from == FieldType::text && to == Type::text;
  bool good = false;
  with_type(from,
            [&](auto a) { with_type(field_type(to), [&](auto b) { good = holds<decltype(a), decltype(b)>(); }); });
  return good;
}

void convert(FieldType from, const std::byte* source, Type to, std::byte* target, std::size_t count,
             const Conversion& conversion) {
  if (from == field_type(to) && !conversion.changes()) {
    std::memcpy(target, source, count * size_of(from));
    return;
  }
  with_type(from, [&](auto a) {
    with_type(field_type(to), [&](auto b) {
      for (std::size_t i = 0; i < count; ++i) {
        std::memcpy(&a, source + i * sizeof a, sizeof a);
        if (conversion.changes()) {
          b = static_cast<decltype(b)>(conversion.factor * static_cast<double>(a) + conversion.offset);
        } else {
          b = static_cast<decltype(b)>(a);
        }
        std::memcpy(target + i * sizeof b, &b, sizeof b);
      }
    });
  });
}

}  // namespace isochron::fmi
