#include "view/poses.hpp"

#include <array>
#include <cstring>

#include "core/cdr.hpp"

namespace isochron::view {
namespace {

/// Steps through CDR bytes; once something does not fit, nothing does.
class Walk {
 public:
  explicit Walk(std::span<const std::byte> bytes) : bytes_(bytes) {
    if (bytes_.size() < cdr_header_size)
      failed_ = true;
    else
      bytes_ = bytes_.subspan(cdr_header_size);
  }
  [[nodiscard]] bool failed() const { return failed_; }

  std::uint32_t u32() {
    std::uint32_t value = 0;
    take(&value, 4);
    return value;
  }
  float f64_as_float() {
    double value = 0;
    take(&value, 8);
    return static_cast<float>(value);
  }
  std::string_view text() {
    const std::uint32_t size = u32();  // with the zero at its end
    if (failed_ || size > bytes_.size() - at_) return failed_ = true, std::string_view();
    const auto* start = reinterpret_cast<const char*>(bytes_.data() + at_);
    at_ += size;
    return {start, size == 0 ? 0 : size - 1};
  }

 private:
  void take(void* into, std::size_t size) {
    at_ = cdr::align(at_, size);
    if (failed_ || at_ > bytes_.size() || size > bytes_.size() - at_) return void(failed_ = true);
    std::memcpy(into, bytes_.data() + at_, size);
    at_ += size;
  }
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace

bool read_transforms(std::span<const std::byte> bytes, Poses& poses) {
  Walk walk(bytes);
  const std::uint32_t count = walk.u32();
  for (std::uint32_t i = 0; i < count && !walk.failed(); ++i) {
    walk.u32();  // the stamp's seconds and nanoseconds
    walk.u32();
    walk.text();  // the frame: the world
    const std::string_view name = walk.text();
    std::array<float, Poses::floats_per_body> pose{};
    for (float& value : pose) value = walk.f64_as_float();
    if (walk.failed()) break;
    if (i >= poses.names.size()) poses.names.emplace_back(name);
    if (poses.names[i] != name) poses.names[i] = name;
    poses.values.resize(poses.names.size() * Poses::floats_per_body);
    std::copy(pose.begin(), pose.end(), poses.values.begin() + static_cast<std::ptrdiff_t>(i * pose.size()));
  }
  return !walk.failed();
}

std::optional<PositionReader> PositionReader::make(const mcap::Channel& channel, const mcap::Schema* schema) {
  if (schema == nullptr) return std::nullopt;
  const auto parsed = parse_ros2msg(schema->name, schema->text);
  auto decoder = Decoder::make(channel, schema);
  if (!parsed.ok() || !decoder.ok() || parsed->messages.empty()) return std::nullopt;
  for (const SchemaField& field : parsed->messages.front().fields) {
    if (field.name != "position") continue;
    const bool array = field.many == SchemaField::Many::fixed && (field.count == 2 || field.count == 3) &&
                       (field.type == FieldType::float64 || field.type == FieldType::float32);
    const bool point = field.many == SchemaField::Many::one && field.type == FieldType::message;
    if (array || point) return PositionReader(std::move(decoder).value());
  }
  return std::nullopt;
}

bool PositionReader::read(std::span<const std::byte> bytes, float* place) const {
  bool found = false;
  decoder_.each(bytes, [&](const std::string& path, const Scalar& value) {
    if (!path.starts_with("position")) return;
    const char axis = path.size() == 11 ? path[9] : path.size() == 10 ? path[9] : ' ';  // position[0], position.x
    const int index = axis == '0' || axis == 'x'   ? 0
                      : axis == '1' || axis == 'y' ? 1
                      : axis == '2' || axis == 'z' ? 2
                                                   : -1;
    const auto number = to_number(value);
    if (index < 0 || !number) return;
    place[index] = static_cast<float>(*number);
    found = true;
  });
  return found;
}

}  // namespace isochron::view
