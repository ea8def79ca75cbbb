#include "apps/isochron/maps.hpp"

#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "apps/isochron/terminal.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "run/run.hpp"
#include "run/v2x_air_run.hpp"
#include "v2x/station/map_shapes.hpp"

namespace isochron::app {
namespace {

struct ImportFlags {
  std::string file, origin, output;
  std::vector<std::string> spat;
};
struct ExportFlags {
  std::string scenario, lights;
  bool json = false, j2735 = false;
};

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError({file, 0, 0}, "cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

v2x::Frame frame_of(const std::string& text, const Place& place) {
  auto frame = v2x::from_any_text(text);
  if (!frame.ok()) throw InputError(place, v2x::to_string(frame.error()));
  return std::move(frame).value();
}

std::string number(double value, int digits = 2) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*f", digits, value + 0.0);
  return text;
}

/// What signal groups showed, and for how long.
struct Shown {
  double seconds = 0;
  std::set<int> green, yellow;
};

void take(const v2x::IntersectionState& state, Shown& shown) {
  using State = v2x::SignalState;
  for (const v2x::MovementState& movement : state.movements) {
    if (movement.events.empty()) continue;
    const State now = movement.events[0].state;
    const bool green = now == State::protected_movement_allowed || now == State::permissive_movement_allowed;
    const bool yellow = now == State::protected_clearance || now == State::permissive_clearance;
    if (green) shown.green.insert(movement.signal_group);
    if (yellow) shown.yellow.insert(movement.signal_group);
  }
}

/// Seconds of the year, if it says so.
std::optional<double> time_of(const v2x::Spat& spat, const v2x::IntersectionState& state) {
  const auto minute = state.minute_of_year ? state.minute_of_year : spat.minute_of_year;
  if (!minute || !state.second_s || !*state.second_s) return std::nullopt;
  return 60.0 * *minute + **state.second_s;
}

/// The phases of each intersection, by its number, from SPaT messages in the order of time: one a line in hexadecimal,
/// or one in a file.
std::map<int, std::vector<Shown>> phases_of(const std::vector<std::string>& files) {
  std::map<int, std::vector<Shown>> all;
  std::map<int, double> since;
  const auto look = [&](const v2x::Frame& frame, const Place& place) {
    const auto* spat = std::get_if<v2x::Spat>(&frame.message);
    if (spat == nullptr) throw InputError(place, "is not a SPaT message");
    for (const v2x::IntersectionState& state : spat->intersections) {
      const auto now = time_of(*spat, state);
      if (!now) throw InputError(place, "does not say when it was sent", "it needs `moy` and `timeStamp`");
      std::vector<Shown>& list = all[state.id.id];
      Shown shown;
      take(state, shown);
      const auto last = since.find(state.id.id);
      if (last != since.end() && *now < last->second) throw InputError(place, "is older than the one before it");
      const bool same = !list.empty() && list.back().green == shown.green && list.back().yellow == shown.yellow;
      if (same) continue;
      if (!list.empty()) list.back().seconds = *now - last->second;
      since[state.id.id] = *now;
      list.push_back(shown);
    }
  };
  for (const std::string& file : files) {
    const std::string text = text_of(file);
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && (text[first] == '<' || text[first] == '{')) {
      look(frame_of(text, {file, 0, 0}), {file, 0, 0});
      continue;
    }
    std::istringstream lines(text);
    int line_number = 0;
    for (std::string line; std::getline(lines, line);) {
      const Place place{file, ++line_number, 0};
      if (line.find_first_not_of(" \t\r") != std::string::npos) look(frame_of(line, place), place);
    }
  }
  // The first and the last were there for longer than was seen.
  for (auto& [id, list] : all) {
    if (list.size() > 2) list.erase(list.begin());
    if (list.size() > 1) list.pop_back();
    if (list.size() == 1 && list[0].seconds <= 0) list[0].seconds = 30;
  }
  return all;
}

/// Each group in turn: nobody told more.
std::vector<Shown> by_turns(const std::set<int>& groups) {
  std::vector<Shown> list;
  for (const int group : groups) {
    list.push_back({20, {group}, {}});
    list.push_back({3, {}, {group}});
    list.push_back({2, {}, {}});
  }
  return list;
}

std::string heads(const std::set<int>& groups) {
  std::string text;
  for (const int group : groups) text += (text.empty() ? "group" : ", group") + std::to_string(group);
  return "[" + text + "]";
}

/// As scenarios have names.
std::string lights_name(const v2x::IntersectionShape& shape) {
  std::string name;
  for (const char c : shape.name) {
    const bool good =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    name += good ? c : '_';
  }
  return name.empty() ? "intersection" + std::to_string(shape.id) : name;
}

std::string lane_text(const v2x::IntersectionShape& shape, const v2x::LaneShape& lane) {
  std::string text = "        " + lane.name + ": {nodes: [";
  for (std::size_t i = 0; i < lane.nodes.size(); ++i) {
    text += (i > 0 ? ", [" : "[") + number(lane.nodes[i].x) + ", " + number(lane.nodes[i].y) + "]";
  }
  text += "]";
  if (lane.signal_group > 0) text += ", head: group" + std::to_string(lane.signal_group);
  std::string to;
  for (const auto& way : lane.leads_to) {
    to += (to.empty() ? "" : ", ") + shape.lanes[static_cast<std::size_t>(way.lane)].name;
  }
  if (!to.empty()) text += ", to: [" + to + "]";
  return text + "}\n";
}

struct Written {
  std::string agents, intersections;
  std::size_t lanes = 0;
};

void write(const v2x::MappedIntersection& mapped, const std::map<int, std::vector<Shown>>& told, Written& out) {
  const v2x::IntersectionShape& shape = mapped.shape;
  const std::string name = lights_name(shape);
  std::set<int> groups;
  std::string lanes;
  for (const std::string& sentence : mapped.left_out) lanes += "        # " + foreign_name(sentence) + "\n";
  for (const v2x::LaneShape& lane : shape.lanes) {
    if (lane.signal_group > 0) groups.insert(lane.signal_group);
    for (const auto& way : lane.leads_to) {
      if (way.signal_group == lane.signal_group || way.signal_group == 0) continue;
      lanes += "        # " + lane.name + ": the way to " + shape.lanes[static_cast<std::size_t>(way.lane)].name +
               " has signal group " + std::to_string(way.signal_group) + "; here a lane has one head\n";
    }
    lanes += lane_text(shape, lane);
    ++out.lanes;
  }
  const auto known = told.find(shape.id);
  const bool seen = known != told.end();
  out.agents += "    " + name + ":\n      kind: lights\n      client: lights\n      phases:" +
                (seen ? "\n" : "  # each group in turn: nobody told how these signals go (--spat)\n");
  for (const Shown& phase : seen ? known->second : by_turns(groups)) {
    out.agents += "        - {lasts: " + number(phase.seconds) + "s, green: " + heads(phase.green) +
                  ", yellow: " + heads(phase.yellow) + "}\n";
  }
  out.intersections += "    " + name + ":\n      id: " + std::to_string(shape.id) + "\n      antenna: [" +
                       number(shape.reference.x) + ", " + number(shape.reference.y) +
                       ", 5]\n      lane_width: " + number(shape.lane_width_m) +
                       "\n      speed_limit: " + number(shape.speed_limit_m_s) + "\n      lanes:\n" + lanes;
}

std::array<double, 2> origin_of(const std::string& text, const v2x::MapData& map) {
  if (text.empty()) {
    const v2x::Position& at = map.intersections[0].reference;
    return {at.latitude_deg.value_or(0), at.longitude_deg.value_or(0)};
  }
  std::array<double, 2> origin{};
  const char* const end = text.data() + text.size();
  const auto [comma, one] = std::from_chars(text.data(), end, origin[0]);
  if (one == std::errc{} && comma != end && *comma == ',') {
    const auto [last, two] = std::from_chars(comma + 1, end, origin[1]);
    if (two == std::errc{} && last == end && std::fabs(origin[0]) <= 89 && std::fabs(origin[1]) <= 180) return origin;
  }
  throw InputError({"--origin", 0, 0}, "is not a place, as in 43.0731,-89.4009 (degrees)");
}

int import_map(const ImportFlags& flags) {
  const v2x::Frame frame = frame_of(text_of(flags.file), {flags.file, 0, 0});
  const auto* map = std::get_if<v2x::MapData>(&frame.message);
  if (map == nullptr) throw InputError({flags.file, 0, 0}, "is not a MAP message");
  if (map->intersections.empty()) throw InputError({flags.file, 0, 0}, "tells of no intersection");
  const auto origin = origin_of(flags.origin, *map);
  const auto told = phases_of(flags.spat);
  Written out;
  const auto mapped = v2x::shapes_of(*map, v2x::GeoFrame(origin[0], origin[1]));
  for (const auto& one : mapped) write(one, told, out);
  if (out.lanes == 0) throw InputError({flags.file, 0, 0}, "tells of no lane of vehicles");
  const std::string text = "# Lights and lanes of " + foreign_name(flags.file) +
                           ", for scenarios with `agents` and `v2x`.\n" + "agents:\n  members:\n" + out.agents +
                           "v2x:\n  latitude: " + number(origin[0], 7) + "\n  longitude: " + number(origin[1], 7) +
                           "\n  intersections:\n" + out.intersections;
  if (flags.output.empty()) return print(text), exit_fine;
  std::ofstream file(flags.output, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw InputError({flags.output, 0, 0}, "cannot be written");
  print(flags.output + ": " + std::to_string(mapped.size()) + " intersections, " + std::to_string(out.lanes) +
        " lanes\n");
  return exit_fine;
}

int export_map(const ExportFlags& flags) {
  const Scenario scenario = load_scenario(flags.scenario);
  if (!scenario.v2x || !scenario.agents || scenario.v2x->intersections.empty()) {
    throw InputError({flags.scenario, 0, 0}, "has no intersections that lights tell of",
                     "name them in `v2x: {intersections: …}`; see docs/v2x.md");
  }
  check_scenario(scenario);
  bool any = false;
  for (const auto& [lights, octets] : scenario_maps(scenario)) {
    if (!flags.lights.empty() && flags.lights != lights) continue;
    any = true;
    const auto form = flags.j2735 ? v2x::JsonForm::j2735 : v2x::JsonForm::si;
    print((flags.json || flags.j2735 ? v2x::to_json(*v2x::decode(octets), form) : v2x::to_hex(octets)) + "\n");
  }
  if (!any) throw InputError({"--lights", 0, 0}, "names no lights with an intersection");
  return exit_fine;
}

int export_certificates(const std::string& file) {
  const Scenario scenario = load_scenario(file);
  if (!scenario.v2x || !scenario.v2x->security) {
    throw InputError({file, 0, 0}, "signs no messages", "add `v2x: {security: {}}`; see docs/v2x.md");
  }
  check_scenario(scenario);
  for (const auto& [name, octets] : scenario_certificates(scenario)) {
    print("# " + (name.empty() ? "the authority" : name) + "\n" + v2x::to_hex(octets) + "\n");
  }
  return exit_fine;
}

}  // namespace

void add_import_map(CLI::App& verb, Action& action) {
  auto flags = std::make_shared<ImportFlags>();
  CLI::App* map =
      verb.add_subcommand("map", "lanes and lights of a scenario, of a MAP message: hexadecimal, JSON or XER");
  map->add_option("FILE", flags->file, "the message")->required();
  map->add_option("--spat", flags->spat,
                  "files of SPaT messages in order of time, whose phases the lights get; hexadecimal: one a line");
  map->add_option("--origin", flags->origin,
                  "LATITUDE,LONGITUDE of the world's origin; the first intersection's if left out");
  map->add_option("-o,--output", flags->output, "where it is written; printed if left out");
  map->callback([&action, flags] { action = [flags] { return import_map(*flags); }; });
}

void add_export_v2x(CLI::App& verb, Action& action) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* map =
      verb.add_subcommand("map", "the intersections of a scenario as MAP messages, in hexadecimal, one a line");
  map->add_option("SCENARIO", flags->scenario, "the scenario file")->required();
  map->add_option("--lights", flags->lights, "of these alone");
  map->add_flag("--json", flags->json, "as JSON in SI units");
  map->add_flag("--j2735", flags->j2735, "as JSON in the standard's own units");
  map->callback([&action, flags] { action = [flags] { return export_map(*flags); }; });
  auto file = std::make_shared<std::string>();
  CLI::App* certificates = verb.add_subcommand(
      "certificates", "whom the units of a scenario trust and what they sign with, for `v2x decode --trust`");
  certificates->add_option("SCENARIO", *file, "the scenario file")->required();
  certificates->callback([&action, file] { action = [file] { return export_certificates(*file); }; });
}

}  // namespace isochron::app
