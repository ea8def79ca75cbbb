#include "run/variable_numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/nearest_name.hpp"
#include "journal/ros2msg.hpp"
#include "msg/robot_types.hpp"
#include "msg/sensor_types.hpp"

namespace isochron {
namespace {

/// One field of a plain value: numbers of 8 bytes each.
struct PlainField {
  std::string name;
  std::size_t offset, count;
  bool many;
  enum class Kind : std::uint8_t { real, integer, natural, time } kind;
};

template <class T>
PlainField::Kind kind_of() {
  if constexpr (std::is_same_v<T, SimTime>) return PlainField::Kind::time;
  if constexpr (std::is_same_v<T, std::int64_t>) return PlainField::Kind::integer;
  if constexpr (std::is_same_v<T, std::uint64_t>) return PlainField::Kind::natural;
  return PlainField::Kind::real;
}

template <Message M>
std::vector<PlainField> fields_of() {
  std::vector<PlainField> fields;
  const M message{};
  const auto* begin = reinterpret_cast<const std::byte*>(&message);
  for_each_field(message, [&]<class T>(const char* name, const T& value) {
    const auto offset = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&value) - begin);
    static_assert(sizeof(T) % 8 == 0);
    if constexpr (is_std_array<T>::value) {
      fields.push_back({name, offset, value.size(), true, kind_of<typename T::value_type>()});
    } else {
      fields.push_back({name, offset, 1, false, kind_of<T>()});
    }
  });
  return fields;
}

template <Message... M>
std::vector<PlainField> fields_by_name(const std::string& type) {
  std::vector<PlainField> found;
  ((type == message_name<M>() ? void(found = fields_of<M>()) : void()), ...);
  return found;
}

/// Of the plain values that programs read and write; none for what is no such value.
std::vector<PlainField> plain_fields(const Variable& variable) {
  using Kind = PlainField::Kind;
  const std::vector<PlainField> head{{"stamp", 0, 1, false, Kind::time}, {"number", 8, 1, false, Kind::natural}};
  const std::size_t rest = variable.size >= 16 ? (variable.size - 16) / 8 : 0;
  std::vector<PlainField> fields = head;
  if (variable.type == message_name<JointsReading<1>>()) {
    fields.push_back({"position", 16, rest / 2, true, Kind::real});
    fields.push_back({"velocity", 16 + rest / 2 * 8, rest / 2, true, Kind::real});
    return fields;
  }
  if (variable.type == message_name<ValuesReading<1>>()) {
    fields.push_back({"values", 16, rest, true, Kind::real});
    return fields;
  }
  return fields_by_name<Motion, Wrench, PoseReading, ImuReading, GpsReading, GpsVelocityReading, BarometerReading,
                        MagnetometerReading, AirspeedReading, OpticalFlowReading, RangeReading, ContactReading>(
      variable.type);
}

/// `[3]`, or `.x` of three or four numbers; quaternions are w x y z.
std::optional<std::size_t> element(std::string_view text, std::size_t count) {
  constexpr std::string_view three = "xyz", four = "wxyz";
  std::size_t index = count;
  if (text.size() == 2 && text[0] == '.' && (count == 3 || count == 4)) {
    index = (count == 3 ? three : four).find(text[1]);
  } else if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    const char* const end = text.data() + text.size() - 1;
    if (std::from_chars(text.data() + 1, end, index).ptr != end) return std::nullopt;
  }
  return index < count ? std::optional(index) : std::nullopt;
}

}  // namespace

Result<VariableNumbers, std::string> VariableNumbers::find(const Plant& plant, Stage& stage, const std::string& robot,
                                                           const std::string& text) {
  const std::size_t end = std::min(text.find_first_of(".["), text.size());
  const std::string name = text.substr(0, end), path = text.substr(end);
  const auto& all = plant.variables();
  std::vector<std::string> known;
  for (const std::string& full : {robot + "/" + name, name}) {
    for (std::uint32_t i = 0; i < all.size(); ++i) {
      if (all[i].name != full) continue;
      VariableNumbers numbers;
      numbers.variable_ = i;
      if (auto found = numbers.find_part(all[i], stage, path); !found.ok()) return fail(found.error());
      return numbers;
    }
  }
  for (const Variable& variable : all) {
    known.push_back(variable.name.starts_with(robot + "/") ? variable.name.substr(robot.size() + 1) : variable.name);
  }
  const std::string hint = nearest_hint(name, known);
  return fail("there is no variable `" + name + "`" + (hint.empty() ? "" : "; " + hint));
}

Result<Done, std::string> VariableNumbers::find_part(const Variable& variable, Stage& stage, const std::string& path) {
  if (variable.varies) return find_in_message(variable, stage, path);
  room_.resize(variable.size);
  if (variable.type.starts_with("float64")) {
    many_ = variable.type != "float64";
    return find_in_array(variable.size / sizeof(double), path);
  }
  const std::vector<PlainField> fields = plain_fields(variable);
  std::string names;
  for (const PlainField& field : fields) {
    names += (names.empty() ? "" : ", ") + field.name;
    if (!path.starts_with("." + field.name)) continue;
    const std::string rest = path.substr(1 + field.name.size());
    if (!rest.empty() && rest[0] != '.' && rest[0] != '[') continue;
    offset_ = field.offset;
    kind_ = static_cast<Kind>(field.kind);
    many_ = field.many;
    return find_in_array(field.count, rest);
  }
  return fail((path.empty() ? "`" + variable.name + "` is more than a number; name a field of it"
                            : "`" + variable.name + "` has no field `" + path.substr(1) + "`") +
              (names.empty() ? "" : ", of: " + names));
}

Result<Done, std::string> VariableNumbers::find_in_array(std::size_t count, const std::string& path) {
  count_ = count;
  if (path.empty()) return Done{};
  const auto index = many_ ? element(path, count) : std::nullopt;
  if (!index) return fail("there is no `" + path + "` of " + std::to_string(count) + " numbers");
  offset_ += *index * 8;
  count_ = 1;
  many_ = false;
  return Done{};
}

Result<Done, std::string> VariableNumbers::find_in_message(const Variable& variable, Stage& stage,
                                                           const std::string& path) {
  for (std::size_t i = 0; i < stage.sensors().size(); ++i) {
    const world::Sensor& sensor = stage.sensors()[i];
    for (const world::Output& output : sensor.outputs()) {
      const std::string name = sensor.spec().robot + "/" + sensor.spec().name;
      if ((output.name.empty() ? name : name + "/" + output.name) != variable.name) continue;
      auto schema = parse_ros2msg(output.message_name, output.schema);
      if (!schema.ok()) return fail(schema.error());
      if (path.empty()) return fail("`" + variable.name + "` is a whole message; name a field of it, as in `.ranges`");
      path_ = path.substr(1);
      if (!find_way(*schema, path_).ok()) {
        if (auto way = find_numbers(*schema, path_); !way.ok()) return fail(way.error());
        many_ = true;
        count_ = 0;
      }
      decoder_.emplace(std::move(*schema));
      room_.resize(variable.size);
      return Done{};
    }
  }
  return fail("`" + variable.name + "` is a message that nothing is known of");
}

void VariableNumbers::read(Plant& plant, SimTime now, std::vector<double>& into) {
  into.clear();
  if (decoder_) return read_message(plant, now, into);
  plant.read(variable_, now, room_);
  for (std::size_t i = 0; i < count_; ++i) {
    const std::byte* const at = room_.data() + offset_ + i * 8;
    std::int64_t whole = 0;
    double real = 0;
    std::memcpy(&whole, at, sizeof whole);
    std::memcpy(&real, at, sizeof real);
    into.push_back(kind_ == Kind::real      ? real
                   : kind_ == Kind::time    ? 1e-9 * static_cast<double>(whole)
                   : kind_ == Kind::natural ? static_cast<double>(static_cast<std::uint64_t>(whole))
                                            : static_cast<double>(whole));
  }
}

void VariableNumbers::read_message(Plant& plant, SimTime now, std::vector<double>& into) {
  const Sample sample = plant.sample(variable_, now, room_);
  if (sample.size == 0) return;
  const auto message = std::span<const std::byte>(room_).first(sample.size);
  if (!many_) {
    if (const auto number = decoder_->number(message, path_)) into.push_back(*number);
    return;
  }
  decoder_->each(message, [&](const std::string& path, const Scalar& value) {
    if (!path.starts_with(path_) || path.size() <= path_.size() || path[path_.size()] != '[') return;
    if (const auto number = to_number(value)) into.push_back(*number);
  });
}

void VariableNumbers::put(std::span<const double> numbers, std::span<std::byte> value) const {
  for (std::size_t i = 0; i < count_; ++i) {
    std::memcpy(value.data() + offset_ + i * 8, &numbers[i], sizeof(double));
  }
}

}  // namespace isochron
