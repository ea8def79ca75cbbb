#pragma once
// Reads and writes of a plant's variables as a request asks for them, one or several: what may be read and written, and
// the sentence where it may not. Every mode and link answers through this.
//
// Threads: the plant's owner. Cost: allocates for a refusal.

#include <string>
#include <vector>

#include "core/nearest_name.hpp"
#include "core/own_name.hpp"
#include "core/plant.hpp"
#include "protocol/program_items.hpp"
#include "protocol/program_protocol.hpp"

namespace isochron::protocol {

struct Refusal {
  Verdict verdict = Verdict::refused;
  std::string why;
};

/// `most`: the bytes that an answer may have.
[[nodiscard]] inline bool can_read(const Plant& plant, std::uint32_t index, std::size_t most = payload_max) {
  const auto& variables = plant.variables();
  return index < variables.size() && variables[index].readable && variables[index].size <= most;
}

/// The variable that `name` means to a program of `robot` that expects `type` ("" = any); no_such_name: `why` says so.
[[nodiscard]] inline std::uint32_t find_variable(const Plant& plant, std::string_view robot, const std::string& name,
                                                 std::string_view type, Refusal& why, std::size_t most = payload_max) {
  const auto& variables = plant.variables();
  const std::uint32_t index = find_own(variables, robot, name, &Variable::name);
  if (index == no_such_name) {
    std::vector<std::string> whole, own;
    for (const Variable& v : variables) {
      whole.push_back(v.name);
      if (v.name.starts_with(std::string(robot) + "/")) own.push_back(v.name.substr(robot.size() + 1));
    }
    const std::string near = nearest_name(name, own);
    why = {Verdict::unknown_name, "there is no variable " + name + "; " +
                                      (near.empty() ? nearest_hint(name, whole) : "did you mean `" + near + "`?")};
    return no_such_name;
  }
  const Variable& variable = variables[index];
  if (!type.empty() && type != variable.type) {
    why = {Verdict::wrong_type, name + " is " + variable.type + ", not " + std::string(type)};
    return no_such_name;
  }
  if (variable.size > most) {
    why = {Verdict::too_large, name + " has up to " + std::to_string(variable.size) +
                                   " bytes, and a program is handed " + std::to_string(most) +
                                   " at most; make it smaller"};
    return no_such_name;
  }
  return index;
}

/// What a read of `index` means, `payload` naming them where it is several. Nothing: `why` says so.
[[nodiscard]] inline std::optional<ItemList> asked_for(const Plant& plant, std::uint32_t index,
                                                       std::span<const std::byte> payload, Refusal& why,
                                                       std::size_t most = payload_max) {
  std::optional<ItemList> list = index == several ? ItemList::read(payload) : ItemList();
  if (list && index != several) list->add(index);
  if (!list) {
    why = {Verdict::refused, "reads several variables, but the list of them cannot be read"};
    return std::nullopt;
  }
  std::size_t size = 0;
  for (const std::uint32_t each : list->indexes()) {
    if (!can_read(plant, each, most)) {
      why = {Verdict::refused, "reads a variable that cannot be read"};
      return std::nullopt;
    }
    size += item_head + plant.variables()[each].size;
  }
  if (index == several && size > most) {
    why = {Verdict::too_large,
           "reads up to " + std::to_string(size) + " bytes in one request; at most " + std::to_string(most) + " fit"};
    return std::nullopt;
  }
  return list;
}

/// Somebody asks for these at `at`: when the last answer is there.
[[nodiscard]] inline SimTime all_there(Plant& plant, const ItemList& list, SimTime at) {
  SimTime there = at;
  for (const std::uint32_t index : list.indexes()) there = std::max(there, plant.asked(index, at));
  return there;
}

/// One value at `at`, of whatever kind of variable.
inline Sample sample_of(Plant& plant, std::uint32_t index, SimTime at, std::span<std::byte> room) {
  const Variable& variable = plant.variables()[index];
  if (variable.varies) return plant.sample(index, at, room.first(variable.size));
  plant.read(index, at, room.first(variable.size));
  return {variable.size, SimTime::zero()};
}

/// The answer to a read: bytes of payload and, of a single variable, its stamp. What cannot be read any more (the list
/// lies in the program's memory) is left out.
inline Sample read_all(Plant& plant, std::uint32_t index, const ItemList& list, SimTime at, std::span<std::byte> room) {
  if (index != several) return can_read(plant, index, room.size()) ? sample_of(plant, index, at, room) : Sample{};
  ItemWriter items(room);
  for (const std::uint32_t each : list.indexes()) {
    if (!can_read(plant, each, room.size())) continue;
    const auto place = items.add(each, plant.variables()[each].size);
    if (place) items.cut(sample_of(plant, each, at, *place).size);
  }
  return {items.size(), SimTime::zero()};
}

[[nodiscard]] inline std::optional<Refusal> cannot_write(const Plant& plant, std::uint32_t index,
                                                         std::span<const std::byte> value) {
  const auto& variables = plant.variables();
  if (index >= variables.size() || !variables[index].writable) {
    const std::string name = index < variables.size() ? variables[index].name : "a variable";
    return Refusal{Verdict::refused, "writes " + name + ", which cannot be written"};
  }
  const Variable& variable = variables[index];
  if (value.size() != variable.size) {
    return Refusal{Verdict::wrong_type, "writes " + std::to_string(value.size()) + " bytes to " + variable.name +
                                            " of " + std::to_string(variable.size)};
  }
  if (const auto fit = plant.check(index, value); !fit.ok()) {
    return Refusal{Verdict::refused, "writes to " + variable.name + ": " + fit.error()};
  }
  return std::nullopt;
}

/// Whether all of a write can be done; `payload` must be out of the program's reach.
[[nodiscard]] inline std::optional<Refusal> cannot_write_all(const Plant& plant, std::uint32_t index,
                                                             std::span<const std::byte> payload) {
  if (index != several) return cannot_write(plant, index, payload);
  ItemReader items(payload);
  while (const auto item = items.next()) {
    if (auto refusal = cannot_write(plant, item->index, item->bytes)) return refusal;
  }
  if (items.ok()) return std::nullopt;
  return Refusal{Verdict::refused, "writes several variables, but they cannot be told apart"};
}

}  // namespace isochron::protocol
