#include "run/ros_commands.hpp"

#include <algorithm>
#include <cmath>

namespace isochron {
namespace {

std::uint32_t find(WorldPlant* plant, const std::string& name, const Place& place) {
  if (plant == nullptr) throw InputError(place, "there is no `world`");
  const std::uint32_t variable = variable_of(*plant, name, place);
  if (!plant->variables()[variable].writable) throw InputError(place, "`" + name + "` cannot be written");
  return variable;
}

/// How many floating-point numbers a message has; nothing where that is seen in each only.
std::optional<std::size_t> reals_of(const MessageSchema& schema, std::size_t message = 0) {
  std::size_t sum = 0;
  for (const SchemaField& field : schema.messages[message].fields) {
    const bool real = field.type == FieldType::float64 || field.type == FieldType::float32;
    const auto one =
        field.type == FieldType::message ? reals_of(schema, field.message) : std::optional<std::size_t>(real ? 1 : 0);
    if (!one || (*one > 0 && field.many == SchemaField::Many::sequence)) return std::nullopt;
    sum += *one * (field.many == SchemaField::Many::fixed ? field.count : 1);
  }
  return sum;
}

}  // namespace

RosCommands::RosCommands(const RosSubscribeSection& section, const MessageSchema& schema, WorldPlant* plant)
    : schema_(std::make_shared<MessageSchema>(schema)), decoder_(schema) {
  for (const RosDriveSection& drive : section.drives) add_drive(drive, plant);
  if (section.to.empty()) return;
  const Place& place = section.place_of("to");
  const std::uint32_t variable = find(plant, section.to, place);
  whole_ = Whole{variable, section.to, plant->variables()[variable].size / sizeof(double)};
  const auto has = reals_of(*schema_);
  if (!has || *has == whole_->takes) return;
  throw InputError(place, "`" + section.to + "` takes " + std::to_string(whole_->takes) + " numbers, " + section.as +
                              " has " + std::to_string(*has));
}

void RosCommands::add_drive(const RosDriveSection& section, WorldPlant* plant) {
  const std::uint32_t variable = find(plant, section.actuator, section.place_of("actuator"));
  if (plant->variables()[variable].size != sizeof(double)) {
    throw InputError(section.place_of("actuator"), "`" + section.actuator + "` takes more than one number", "use `to`");
  }
  const auto way = find_way(*schema_, section.field);
  if (!way) throw InputError(section.place_of("field"), way.error(), "as in linear.x or data[2]");
  auto drive = std::ranges::find(drives_, variable, &Drive::variable);
  if (drive == drives_.end()) drive = drives_.insert(drives_.end(), {variable, section.actuator, {}});
  drive->parts.push_back({section.field, FieldReader(schema_, *way), section.gain});
}

Result<Done, std::string> RosCommands::act(std::span<const std::byte> cdr, const Write& write) {
  values_.clear();
  for (const Drive& drive : drives_) {
    double sum = 0;
    for (const Drive::Part& part : drive.parts) {
      const auto value = part.reader.number(cdr);
      if (!value) return fail("it has no number `" + part.field + "`");
      sum += part.gain * *value;
    }
    if (!std::isfinite(sum)) return fail("what it has for " + drive.name + " is not a number");
    values_.push_back(sum);
  }
  std::vector<double> reals;
  if (whole_) {
    decoder_.each(cdr, [&](const std::string&, const Scalar& value) {
      if (std::holds_alternative<double>(value) || std::holds_alternative<float>(value)) {
        reals.push_back(*to_number(value));  // a layout's offsets are none of a command
      }
    });
    const bool finite = std::ranges::all_of(reals, [](double v) { return std::isfinite(v); });
    if (reals.size() != whole_->takes || !finite) {
      return fail(whole_->name + " takes " + std::to_string(whole_->takes) + " numbers, it has " +
                  std::to_string(reals.size()) + (finite ? "" : ", not all of them finite"));
    }
  }
  for (std::size_t i = 0; i < drives_.size(); ++i) write(drives_[i].variable, std::span(&values_[i], 1));
  if (whole_) write(whole_->variable, reals);
  return Done{};
}

}  // namespace isochron
