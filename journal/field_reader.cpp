#include "journal/field_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/ensure.hpp"

namespace isochron {
namespace {

/// Goes through the bytes of one record. All sizes come from the record and are distrusted.
class Skim {
 public:
  Skim(const MessageSchema& schema, std::span<const std::byte> record) : schema_(schema) {
    ok_ = record.size() >= 4 && record[0] == std::byte{0} && static_cast<std::uint8_t>(record[1]) <= 1;
    if (!ok_) return;
    swap_ = record[1] == std::byte{0};  // 0 = big endian
    bytes_ = record.subspan(4);
    steps_left_ = 64 * (bytes_.size() + 1024);
  }
  [[nodiscard]] bool ok() const { return ok_; }

  /// To the field that the way leads to; null: it is not in this record.
  const SchemaField* follow(const FieldWay& way) {
    std::size_t message = 0;
    const SchemaField* field = nullptr;
    for (std::size_t i = 0; i < way.size(); ++i) {
      if (!enter(message, way[i], i + 1 == way.size())) return nullptr;
      field = &schema_.messages[message].fields[way[i].field];
      message = field->message;
    }
    return ok_ ? field : nullptr;
  }

  double number(FieldType type) {
    switch (type) {
      case FieldType::boolean:
        return take<std::uint8_t>() != 0 ? 1 : 0;
      case FieldType::int8:
        return take<std::int8_t>();
      case FieldType::uint8:
        return take<std::uint8_t>();
      case FieldType::int16:
        return take<std::int16_t>();
      case FieldType::uint16:
        return take<std::uint16_t>();
      case FieldType::int32:
        return take<std::int32_t>();
      case FieldType::uint32:
        return take<std::uint32_t>();
      case FieldType::int64:
        return static_cast<double>(take<std::int64_t>());
      case FieldType::uint64:
        return static_cast<double>(take<std::uint64_t>());
      case FieldType::float32:
        return take<float>();
      case FieldType::float64:
        return take<double>();
      default:
        return ok_ = false, 0;
    }
  }

  std::string_view text() {
    const auto size = take<std::uint32_t>();
    if (!ok_ || size > bytes_.size() - at_) return ok_ = false, std::string_view{};
    const auto* chars = reinterpret_cast<const char*>(bytes_.data() + at_);
    at_ += size;
    return {chars, size == 0 ? 0 : size - 1};  // without the zero at its end
  }

  std::uint32_t count(const SchemaField& field) {
    return field.many == SchemaField::Many::fixed ? field.count : take<std::uint32_t>();
  }
  void one(const SchemaField& field) {
    if (field.type == FieldType::message) return message(field.message);
    if (field.type == FieldType::text) return void(text());
    skip_numbers(1, size_of(field.type));
  }
  void fields_before(std::size_t message, std::size_t end) {
    const auto& fields = schema_.messages[message].fields;
    for (std::size_t i = 0; i < end && ok_; ++i) whole(fields[i]);
  }
  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool foreign() const { return swap_; }
  void back_to(std::size_t at) { at_ = at; }

 private:
  bool step() {
    if (steps_left_ == 0) ok_ = false;
    if (ok_) --steps_left_;
    return ok_;
  }

  template <class T>
  T take() {
    const std::size_t at = (at_ + sizeof(T) - 1) & ~(sizeof(T) - 1);
    if (!ok_ || at > bytes_.size() || sizeof(T) > bytes_.size() - at) return ok_ = false, T{};
    std::array<std::byte, sizeof(T)> raw{};
    std::memcpy(raw.data(), bytes_.data() + at, sizeof(T));
    if (swap_) std::reverse(raw.begin(), raw.end());
    at_ = at + sizeof(T);
    return std::bit_cast<T>(raw);
  }

  void skip_numbers(std::size_t count, std::size_t width) {
    if (count == 0 || !ok_) return;
    const std::size_t first = (at_ + width - 1) & ~(width - 1);
    ok_ = first <= bytes_.size() && count <= (bytes_.size() - first) / width;
    at_ = first + count * width;
  }

  void message(std::size_t index) {
    if (!step()) return;
    const auto& fields = schema_.messages[index].fields;
    if (fields.empty() && at_ < bytes_.size()) ++at_;  // ROS 2 fills a message without fields with one byte
    fields_before(index, fields.size());
  }

  void whole(const SchemaField& field) {
    if (field.many == SchemaField::Many::one) return one(field);
    const std::uint32_t elements = count(field);
    if (const std::size_t width = size_of(field.type); width > 0) return skip_numbers(elements, width);
    for (std::uint32_t i = 0; i < elements && ok_ && step(); ++i) one(field);
  }

  /// To the beginning of what one step names, in the message that begins here.
  bool enter(std::size_t message, const FieldStep& to, bool last) {
    fields_before(message, to.field);
    const SchemaField& field = schema_.messages[message].fields[to.field];
    if (!ok_) return false;
    if (field.many == SchemaField::Many::one || (last && to.index == SIZE_MAX)) return true;
    const std::uint32_t elements = count(field);
    if (!ok_) return false;
    if (!to.key.empty()) return enter_keyed(field, elements, to);
    if (to.index >= elements) return false;
    if (const std::size_t width = size_of(field.type); width > 0) {
      skip_numbers(to.index, width);
      return ok_;
    }
    for (std::size_t i = 0; i < to.index && ok_ && step(); ++i) one(field);
    return ok_;
  }

  bool enter_keyed(const SchemaField& field, std::uint32_t elements, const FieldStep& to) {
    for (std::uint32_t i = 0; i < elements && ok_ && step(); ++i) {
      const std::size_t begin = at_;
      fields_before(field.message, to.key_field);
      const bool found = text() == to.key && ok_;
      at_ = begin;
      if (found) return true;
      one(field);
    }
    return false;
  }

  const MessageSchema& schema_;
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::size_t steps_left_ = 0;
  bool swap_ = false;
  bool ok_ = true;
};

template <class T>
void add_to(std::span<std::byte> record, std::size_t count, double more) {
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, &record[i * sizeof(T)], sizeof(T));
    double sum = static_cast<double>(value) + more;
    if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      sum = std::clamp(std::nearbyint(sum), static_cast<double>(Limits::min()), static_cast<double>(Limits::max()));
    }
    value = static_cast<T>(sum);
    std::memcpy(&record[i * sizeof(T)], &value, sizeof(T));
  }
}

void add_to(std::span<std::byte> numbers, FieldType type, std::size_t count, double more) {
  switch (type) {
    case FieldType::int8:
      return add_to<std::int8_t>(numbers, count, more);
    case FieldType::uint8:
      return add_to<std::uint8_t>(numbers, count, more);
    case FieldType::int16:
      return add_to<std::int16_t>(numbers, count, more);
    case FieldType::uint16:
      return add_to<std::uint16_t>(numbers, count, more);
    case FieldType::int32:
      return add_to<std::int32_t>(numbers, count, more);
    case FieldType::uint32:
      return add_to<std::uint32_t>(numbers, count, more);
    case FieldType::float32:
      return add_to<float>(numbers, count, more);
    case FieldType::float64:
      return add_to<double>(numbers, count, more);
    default:
      return;
  }
}

bool can_add(FieldType type) {
  return type != FieldType::boolean && type != FieldType::int64 && type != FieldType::uint64 && size_of(type) > 0;
}

/// `name` or `name[3]`; false: the brackets are not in order.
bool split_index(std::string_view part, std::string_view& name, std::optional<std::size_t>& index) {
  const auto bracket = part.find('[');
  name = part.substr(0, bracket);
  if (bracket == std::string_view::npos) return true;
  if (part.back() != ']') return false;
  std::size_t value = 0;
  const char* end = part.data() + part.size() - 1;
  const auto [stop, error] = std::from_chars(part.data() + bracket + 1, end, value);
  if (error != std::errc() || stop != end) return false;
  index = value;
  return true;
}

}  // namespace

bool is_time_message(const std::string& definition) {
  return definition == "builtin_interfaces/Time" || definition == "builtin_interfaces/Duration";
}

Result<FieldWay, std::string> find_way(const MessageSchema& schema, std::string_view path) {
  FieldWay way;
  std::size_t message = 0;
  for (std::size_t from = 0; from <= path.size();) {
    const std::size_t dot = std::min(path.find('.', from), path.size());
    std::string_view name;
    std::optional<std::size_t> index;
    if (!split_index(path.substr(from, dot - from), name, index)) {
      return fail("`" + std::string(path) + "` is no field; as in position.x or path[2].y");
    }
    const auto& fields = schema.messages[message].fields;
    const auto field = std::ranges::find(fields, name, &SchemaField::name);
    const bool array = field != fields.end() && field->many != SchemaField::Many::one;
    if (field == fields.end() || array != index.has_value()) {
      return fail(schema.messages[message].name + " has no field `" + std::string(path.substr(from, dot - from)) + "`");
    }
    way.push_back({static_cast<std::size_t>(field - fields.begin()), index.value_or(0)});
    from = dot + 1;
    if (field->type == FieldType::message) {
      message = field->message;
      if (from > path.size() && !is_time_message(schema.messages[message].name)) {
        return fail("`" + std::string(path) + "` is not one number");
      }
    } else if (from <= path.size()) {
      return fail("`" + std::string(path) + "` goes on after a number");
    }
  }
  return way;
}

FieldReader::FieldReader(std::shared_ptr<const MessageSchema> schema, FieldWay way)
    : schema_(std::move(schema)), way_(std::move(way)) {
  std::size_t message = 0;
  for (const FieldStep& step : way_) {
    ENSURE(message < schema_->messages.size() && step.field < schema_->messages[message].fields.size(),
           "a way that the schema does not have");
    message = schema_->messages[message].fields[step.field].message;
  }
}

std::optional<double> FieldReader::number(std::span<const std::byte> record) const {
  Skim skim(*schema_, record);
  const SchemaField* field = skim.ok() ? skim.follow(way_) : nullptr;
  if (field == nullptr || field->type == FieldType::text) return std::nullopt;
  double value = 0;
  if (field->type == FieldType::message) {  // a time
    const double seconds = skim.number(FieldType::int32);
    value = seconds + 1e-9 * skim.number(FieldType::uint32);
  } else {
    value = skim.number(field->type);
  }
  return skim.ok() ? std::optional(value) : std::nullopt;
}

std::optional<std::string_view> FieldReader::text(std::span<const std::byte> record) const {
  Skim skim(*schema_, record);
  const SchemaField* field = skim.ok() ? skim.follow(way_) : nullptr;
  if (field == nullptr || field->type != FieldType::text) return std::nullopt;
  const std::string_view found = skim.text();
  return skim.ok() ? std::optional(found) : std::nullopt;
}

Result<FieldWay, std::string> find_numbers(const MessageSchema& schema, std::string_view path) {
  auto one = find_way(schema, path);
  const bool all = !one.ok();
  if (all) {
    auto first = find_way(schema, std::string(path) + "[0]");
    if (!first.ok()) return one;
    first->back().index = SIZE_MAX;
    one = std::move(first);
  }
  std::size_t message = 0;
  FieldType type = FieldType::message;
  for (const FieldStep& step : *one) {
    const SchemaField& field = schema.messages[message].fields[step.field];
    type = field.type;
    message = field.message;
  }
  if (!can_add(type)) return fail("`" + std::string(path) + "` is not a number");
  return one;
}

bool FieldReader::add(std::span<std::byte> record, double more) const {
  Skim skim(*schema_, record);
  const SchemaField* field = skim.ok() && !skim.foreign() ? skim.follow(way_) : nullptr;
  if (field == nullptr || !can_add(field->type)) return false;
  const bool all = field->many != SchemaField::Many::one && way_.back().index == SIZE_MAX;
  const std::size_t count = all ? skim.count(*field) : 1, width = size_of(field->type);
  constexpr std::size_t head = 4;  // of CDR; numbers are aligned from behind it
  const std::size_t first = head + (skim.at() + width - 1) / width * width;
  if (!skim.ok() || first > record.size() || count > (record.size() - first) / width) return false;
  add_to(record.subspan(first), field->type, count, more);
  return true;
}

void FieldReader::keys(std::span<const std::byte> record, std::size_t key_field, std::vector<std::string>& into) const {
  Skim skim(*schema_, record);
  FieldWay way = way_;
  if (way.empty()) return;
  way.back().index = SIZE_MAX;  // to the array itself
  const SchemaField* field = skim.ok() ? skim.follow(way) : nullptr;
  if (field == nullptr || field->type != FieldType::message) return;
  const std::uint32_t elements = skim.count(*field);
  for (std::uint32_t i = 0; i < elements && skim.ok(); ++i) {
    const std::size_t begin = skim.at();
    skim.fields_before(field->message, key_field);
    const std::string_view key = skim.text();
    if (!skim.ok()) return;
    into.emplace_back(key);
    skim.back_to(begin);
    skim.one(*field);
    if (skim.at() == begin) return;  // elements without bytes say nothing
  }
}

}  // namespace isochron
