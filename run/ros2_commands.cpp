#include "run/ros2_commands.hpp"

#include <algorithm>
#include <cmath>

namespace isochron {

Ros2Commands::Ros2Commands(const RosSubscribeSection& section, const MessageSchema& schema, WorldPlant* plant)
    : schema_(std::make_shared<MessageSchema>(schema)), decoder_(schema) {
  for (const RosDriveSection& drive : section.drives) add_drive(drive, plant);
  if (section.to.empty()) return;
  const Found found = find(plant, section.to, section.place_of("to"));
  whole_ = Whole{found.writable, section.to, plant->variables()[found.variable].size / sizeof(double)};
}

Ros2Commands::Found Ros2Commands::find(WorldPlant* plant, const std::string& name, const Place& place) const {
  if (plant == nullptr) throw InputError(place, "there is no `world`");
  const std::uint32_t variable = variable_of(*plant, name, place);
  if (!plant->variables()[variable].writable) throw InputError(place, "`" + name + "` cannot be written");
  const auto all = writables_of(*plant);
  return {variable, static_cast<std::uint32_t>(std::ranges::find(all, variable) - all.begin())};
}

void Ros2Commands::add_drive(const RosDriveSection& section, WorldPlant* plant) {
  const Found found = find(plant, section.actuator, section.place_of("actuator"));
  if (plant->variables()[found.variable].size != sizeof(double)) {
    throw InputError(section.place_of("actuator"), "`" + section.actuator + "` takes more than one number", "use `to`");
  }
  const auto way = find_way(*schema_, section.field);
  if (!way) throw InputError(section.place_of("field"), way.error(), "as in linear.x or data[2]");
  auto drive = std::ranges::find(drives_, found.writable, &Drive::writable);
  if (drive == drives_.end()) drive = drives_.insert(drives_.end(), {found.writable, section.actuator, {}});
  drive->parts.push_back({section.field, FieldReader(schema_, *way), section.gain});
}

Result<Done, std::string> Ros2Commands::act(std::span<const std::byte> cdr, const Write& write) {
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
  for (std::size_t i = 0; i < drives_.size(); ++i) write(drives_[i].writable, std::span(&values_[i], 1));
  if (whole_) write(whole_->writable, reals);
  return Done{};
}

}  // namespace isochron
