#include "journal/decode.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace isochron {
namespace {

template <class T>
std::string shortest(T value) {
  char text[64];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return {text, end};
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\') {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned char>(c));
      result += escaped;
    } else {
      result += c;
    }
  }
  return result + "\"";
}

using Visit = std::function<void(const std::string&, Scalar)>;

/// Bytes of one value; 0 for those that vary.
std::size_t width_of(FieldType type) {
  switch (type) {
    case FieldType::boolean:
    case FieldType::int8:
    case FieldType::uint8:
      return 1;
    case FieldType::int16:
    case FieldType::uint16:
      return 2;
    case FieldType::int32:
    case FieldType::uint32:
    case FieldType::float32:
      return 4;
    case FieldType::int64:
    case FieldType::uint64:
    case FieldType::float64:
      return 8;
    default:
      return 0;
  }
}

/// Goes through a message in order; with a path `wanted` it visits that one alone, and passes over arrays at a stride.
class Walk {
 public:
  Walk(const MessageSchema& schema, std::span<const std::byte> bytes, const Visit& visit, std::string_view wanted = {})
      : schema_(schema), visit_(visit), wanted_(wanted) {
    ok_ = bytes.size() >= 4 && bytes[0] == std::byte{0} && static_cast<std::uint8_t>(bytes[1]) <= 1;
    if (!ok_) return;
    swap_ = bytes[1] == std::byte{0};  // 0 = big endian
    bytes_ = bytes.subspan(4);
    steps_left_ = 64 * (bytes_.size() + 1024);
  }

  bool run() {
    if (ok_) message(0);
    return ok_;
  }

 private:
  /// An array of messages without fields takes no bytes: only a count of steps keeps it finite.
  bool step() {
    if (steps_left_ == 0) ok_ = false;
    if (ok_) --steps_left_;
    return ok_;
  }

  void message(std::size_t index) {
    if (!step()) return;
    const auto& fields = schema_.messages[index].fields;
    // ROS 2 fills a message without fields with one byte.
    if (fields.empty() && at_ < bytes_.size()) ++at_;
    for (const SchemaField& field : fields) {
      if (!ok_ || enough_) return;
      const std::size_t length = path_.size();
      if (!path_.empty()) path_ += '.';
      path_ += field.name;
      many(field);
      path_.resize(length);
    }
  }

  void many(const SchemaField& field) {
    if (field.many == SchemaField::Many::one) return one(field);
    const std::uint32_t count =
        field.many == SchemaField::Many::fixed ? field.count : static_cast<std::uint32_t>(number<std::uint32_t>());
    const std::size_t width = width_of(field.type);
    if (!wanted_.empty() && width > 0) return element(field, count, width);
    const std::size_t length = path_.size();
    for (std::uint32_t i = 0; i < count && ok_ && !enough_; ++i) {
      path_ += '[';
      path_ += std::to_string(i);
      path_ += ']';
      one(field);
      path_.resize(length);
    }
  }

  void one(const SchemaField& field) {
    if (field.type == FieldType::message) return message(field.message);
    Scalar value = scalar(field.type);
    if (!ok_ || (!wanted_.empty() && path_ != wanted_)) return;
    enough_ = !wanted_.empty();
    visit_(path_, std::move(value));
  }

  /// The wanted one of an array of numbers, without a look at the others.
  void element(const SchemaField& field, std::uint32_t count, std::size_t width) {
    if (count == 0 || !ok_) return;
    const std::size_t first = (at_ + width - 1) & ~(width - 1);
    const std::size_t there = first > bytes_.size() ? 0 : (bytes_.size() - first) / width;
    if (const auto index = wanted_index(); index && *index < std::min<std::size_t>(count, there)) {
      at_ = first + *index * width;
      enough_ = true;
      return visit_(std::string(wanted_), scalar(field.type));
    }
    ok_ = count <= there;
    at_ = first + count * width;
  }

  /// N, if what is wanted is this very path and [N].
  [[nodiscard]] std::optional<std::size_t> wanted_index() const {
    if (!wanted_.starts_with(path_) || !wanted_.ends_with(']') || wanted_.size() < path_.size() + 3)
      return std::nullopt;
    const char* from = wanted_.data() + path_.size();
    const char* to = wanted_.data() + wanted_.size() - 1;
    std::size_t index = 0;
    if (*from++ != '[') return std::nullopt;
    const auto [end, error] = std::from_chars(from, to, index);
    return error == std::errc() && end == to ? std::optional(index) : std::nullopt;
  }

  Scalar scalar(FieldType type) {
    switch (type) {
      case FieldType::boolean:
        return number<std::uint8_t>() != 0;
      case FieldType::int8:
        return std::int64_t{number<std::int8_t>()};
      case FieldType::uint8:
        return std::uint64_t{number<std::uint8_t>()};
      case FieldType::int16:
        return std::int64_t{number<std::int16_t>()};
      case FieldType::uint16:
        return std::uint64_t{number<std::uint16_t>()};
      case FieldType::int32:
        return std::int64_t{number<std::int32_t>()};
      case FieldType::uint32:
        return std::uint64_t{number<std::uint32_t>()};
      case FieldType::int64:
        return number<std::int64_t>();
      case FieldType::uint64:
        return number<std::uint64_t>();
      case FieldType::float32:
        return number<float>();
      case FieldType::float64:
        return number<double>();
      default:
        return text();
    }
  }

  template <class T>
  T number() {
    const std::size_t at = (at_ + sizeof(T) - 1) & ~(sizeof(T) - 1);
    if (!ok_ || at > bytes_.size() || sizeof(T) > bytes_.size() - at) return ok_ = false, T{};
    std::array<std::byte, sizeof(T)> raw{};
    std::memcpy(raw.data(), bytes_.data() + at, sizeof(T));
    if (swap_) std::reverse(raw.begin(), raw.end());
    at_ = at + sizeof(T);
    return std::bit_cast<T>(raw);
  }

  std::string text() {
    const auto size = number<std::uint32_t>();
    if (!ok_ || size > bytes_.size() - at_) return ok_ = false, std::string{};
    const auto* chars = reinterpret_cast<const char*>(bytes_.data() + at_);
    at_ += size;
    return {chars, size == 0 ? 0 : size - 1};  // without the zero at its end
  }

  const MessageSchema& schema_;
  const Visit& visit_;
  std::string_view wanted_;
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::size_t steps_left_ = 0;
  std::string path_;
  bool swap_ = false;
  bool ok_ = true;
  bool enough_ = false;
};

}  // namespace

std::string to_string(const Scalar& value) {
  if (const auto* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return quoted(*text);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return std::to_string(*number);
  if (const auto* number = std::get_if<float>(&value)) return shortest(*number);
  return shortest(std::get<double>(value));
}

std::optional<double> to_number(const Scalar& value) {
  return std::visit(
      [](const auto& held) -> std::optional<double> {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>) {
          return std::nullopt;
        } else {
          return static_cast<double>(held);
        }
      },
      value);
}

Result<Decoder, std::string> Decoder::make(const mcap::Channel& channel, const mcap::Schema* schema) {
  if (schema == nullptr || channel.encoding != "cdr" || schema->encoding != "ros2msg") {
    return fail(channel.topic + " is not recorded as cdr with a ros2msg schema");
  }
  auto parsed = parse_ros2msg(schema->name, schema->text);
  if (!parsed) return fail(parsed.error());
  return Decoder(std::move(*parsed));
}

bool Decoder::each(std::span<const std::byte> bytes, const Visit& f) const { return Walk(schema_, bytes, f).run(); }

std::vector<NamedValue> Decoder::values(std::span<const std::byte> bytes) const {
  std::vector<NamedValue> all;
  each(bytes, [&](const std::string& path, Scalar value) { all.push_back({path, std::move(value)}); });
  return all;
}

std::optional<double> Decoder::number(std::span<const std::byte> bytes, std::string_view path) const {
  std::optional<double> found;
  if (path.empty()) return found;
  Walk(
      schema_, bytes, [&](const std::string&, const Scalar& value) { found = to_number(value); }, path)
      .run();
  return found;
}

std::string Decoder::print(std::span<const std::byte> bytes, std::size_t limit) const {
  std::string text;
  each(bytes, [&](const std::string& path, const Scalar& value) {
    if (text.size() >= limit) return;
    text += (text.empty() ? "" : " ") + path + "=" + to_string(value);
  });
  if (text.size() > limit) text = text.substr(0, limit) + " …";
  return text;
}

Result<Series, std::string> read_series(McapReader& reader, const std::string& topic, const std::string& field,
                                        SimTime from, SimTime to) {
  const mcap::Channel* channel = reader.channel(topic);
  if (channel == nullptr) return fail(reader.name() + " has no topic " + topic);
  const auto decoder = Decoder::make(*channel, reader.schema_of(*channel));
  if (!decoder) return fail(decoder.error());
  Series series;
  std::uint64_t seen = 0;
  MessageCursor cursor = reader.messages({{topic}, from, to});
  while (const auto message = cursor.next()) {
    ++seen;
    const auto value = decoder->number(message->data, field);
    if (!value) continue;
    series.times.push_back(message->time);
    series.values.push_back(*value);
  }
  if (seen > 0 && series.times.empty()) return fail(topic + " has no number called " + field);
  return series;
}

}  // namespace isochron
