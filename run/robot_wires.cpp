#include "run/robot_wires.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "core/time_text.hpp"
#include "run/radio_post.hpp"
#include "run/wire_end.hpp"

namespace isochron {
namespace {

std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

/// `float32[3] imu.angular_velocity`: the type, how many, and the rest.
struct FieldText {
  std::optional<WireType> type;
  std::optional<std::size_t> count;
  std::string source;
};

Result<FieldText, std::string> parse_field(const std::string& text) {
  const std::size_t space = text.find(' ');
  if (space == std::string::npos) return FieldText{{}, {}, text};
  std::string type = text.substr(0, space);
  FieldText field{{}, {}, text.substr(text.find_first_not_of(' ', space))};
  if (const std::size_t bracket = type.find('['); bracket != std::string::npos) {
    std::size_t count = 0;
    const char* const end = type.data() + type.size() - 1;
    if (type.back() != ']' || std::from_chars(type.data() + bracket + 1, end, count).ptr != end || count < 1 ||
        count > WireFormat::longest) {
      return fail("`" + type + "` is not a type and a number of them, as in float32[3]");
    }
    field.count = count;
    type.resize(bracket);
  }
  field.type = wire_type(type);
  if (!field.type)
    return fail("`" + type + "` is not a type; they are int8 to int64, uint8 to uint64, float32, float64");
  return field;
}

const Place& place_of(const VariableTexts& texts, const std::string& name, const Section& section) {
  const auto found = texts.places.find(name);
  return found == texts.places.end() ? section.place : found->second;
}

/// What a field is on the wire; `numbers` of what stands behind it, where that is known.
WireField wire_field(const std::string& name, const FieldText& text, const std::optional<VariableNumbers>& numbers,
                     WireForm form, const Place& place) {
  WireField field{name, text.type.value_or(WireType::float64), false, 1};
  if (form == WireForm::json && text.type) {
    throw InputError(place, "types are for binary wires, and this one is JSON", "leave the type out");
  }
  if (form != WireForm::json && !text.type) {
    throw InputError(place, "a binary field needs a type", "as in `float32 " + text.source + "`");
  }
  if (numbers) {
    field.many = numbers->many();
    field.count = numbers->count();
  }
  if (text.count) {
    if (numbers && numbers->count() != 0 && numbers->count() != *text.count) {
      throw InputError(place, "`" + text.source + "` is " + std::to_string(numbers->count()) + " numbers, not " +
                                  std::to_string(*text.count));
    }
    field.many = true;
    field.count = *text.count;
  }
  if (form != WireForm::json && field.many && field.count == 0) {
    throw InputError(place, "how many numbers `" + text.source + "` has is not known beforehand",
                     "say it, as in `float32[360] " + text.source + "`");
  }
  if (form != WireForm::json && field.many && !text.count) {
    throw InputError(place, "`" + text.source + "` is " + std::to_string(field.count) + " numbers",
                     "write the type as in `float32[" + std::to_string(field.count) + "]`");
  }
  return field;
}

}  // namespace

bool has_wires(const Scenario& scenario) {
  return std::ranges::any_of(scenario.robots, [](const auto& robot) { return !robot.second.wires.empty(); });
}

RobotWires::RobotWires(const Scenario& scenario, Stage& stage, Plant& plant) : plant_(&plant) {
  for (const auto& [robot, section] : scenario.robots) {
    for (const auto& [name, wire] : section.wires) add(robot, name, wire, stage);
  }
}

RobotWires::~RobotWires() = default;

void RobotWires::add(const std::string& robot, const std::string& name, const WireSection& section, Stage& stage) {
  if (section.every % stage.step() != SimSpan::zero()) {
    throw InputError(section.place_of("every"),
                     "`every` must be a multiple of the world's step of " + to_string(stage.step()), "");
  }
  auto wire = std::make_unique<Wire>(Wire{&section,
                                          robot,
                                          robot + "/" + name,
                                          WireFormat(section.form, {}),
                                          WireFormat(section.form, {}),
                                          {},
                                          {},
                                          {},
                                          SimTime::zero(),
                                          {},
                                          nullptr});
  wire->figures.name = wire->name;
  add_sends(*wire, stage);
  add_takes(*wire, stage);
  names_.push_back(wire->name + ".wire");
  wires_.push_back(std::move(wire));
}

void RobotWires::add_sends(Wire& wire, Stage& stage) {
  std::vector<WireField> fields;
  for (const auto& [name, text] : wire.section->sends) {
    const Place& place = place_of(wire.section->sends, name, *wire.section);
    const auto field = parse_field(text);
    if (!field.ok()) throw InputError(place, field.error());
    Sent sent;
    using Kind = Sent::Kind;
    if (const auto number = number_in(field->source)) {
      sent.constant = *number;
    } else if (field->source == "time" || field->source == "time_ns" || field->source == "count") {
      sent.kind = field->source == "time" ? Kind::time : field->source == "count" ? Kind::count : Kind::time_ns;
    } else {
      auto found = VariableNumbers::find(*plant_, stage, wire.robot, field->source);
      if (!found.ok()) throw InputError(place, found.error());
      if (!plant_->variables()[found->variable()].readable) {
        throw InputError(place, "`" + field->source + "` cannot be read");
      }
      sent.kind = Kind::variable;
      sent.numbers = std::move(*found);
    }
    fields.push_back(wire_field(name, *field, sent.numbers, wire.section->form, place));
    wire.sends.push_back(std::move(sent));
  }
  wire.out = WireFormat(wire.section->form, std::move(fields));
}

void RobotWires::add_takes(Wire& wire, Stage& stage) {
  std::vector<WireField> fields;
  for (const auto& [name, text] : wire.section->takes) {
    const Place& place = place_of(wire.section->takes, name, *wire.section);
    const auto field = parse_field(text);
    if (!field.ok()) throw InputError(place, field.error());
    TakenField taken;
    if (const auto number = number_in(field->source)) {
      taken.kind = TakenField::Kind::constant;
      taken.constant = *number;
    } else if (field->source != "-") {
      auto found = VariableNumbers::find(*plant_, stage, wire.robot, field->source);
      if (!found.ok()) throw InputError(place, found.error());
      const Variable& variable = plant_->variables()[found->variable()];
      if (!variable.writable) throw InputError(place, "`" + variable.name + "` cannot be written");
      taken.kind = TakenField::Kind::variable;
      const auto target = std::ranges::find(wire.targets, found->variable(), &Target::variable);
      taken.target = static_cast<std::size_t>(target - wire.targets.begin());
      if (target == wire.targets.end()) {
        wire.targets.push_back({found->variable(), std::vector<std::byte>(variable.size), false});
      }
      taken.numbers = std::move(*found);
    }
    fields.push_back(wire_field(name, *field, taken.numbers, wire.section->form, place));
    wire.takes.push_back(std::move(taken));
  }
  wire.in = WireFormat(wire.section->form, std::move(fields));
}

void RobotWires::enter(programs::System* system) {
  for (const auto& wire : wires_) {
    const WireSection& section = *wire->section;
    if (system == nullptr) {
      failure_ = "wire " + wire->name + " has no simulated network";
      return;
    }
    std::optional<programs::Endpoint> to;
    if (!section.to.empty()) {
      const std::size_t colon = section.to.find(':');
      const std::string host = colon == std::string::npos ? wire->robot : section.to.substr(0, colon);
      const int port = std::stoi(section.to.substr(colon == std::string::npos ? 0 : colon + 1));
      to = system->endpoint(wire->robot, host, static_cast<std::uint16_t>(port));
      if (!to) {
        failure_ = "wire " + wire->name + " cannot reach " + host + ": they share no network";
        return;
      }
    }
    auto end = section.udp ? open_datagrams(*system, wire->robot, static_cast<std::uint16_t>(*section.udp), to)
                           : open_streams(*system, wire->robot, static_cast<std::uint16_t>(*section.tcp));
    if (!end.ok()) {
      failure_ = "wire " + wire->name + ": " + end.error();
      return;
    }
    wire->end = std::move(*end);
    wire->figures.where = wire->end->where();
  }
}

void RobotWires::leave() {
  for (const auto& wire : wires_) wire->end.reset();
}

void RobotWires::exchange(programs::Post& post, SimTime now, SimTime) {
  for (std::uint32_t i = 0; i < wires_.size(); ++i) {
    while (const auto letter = post.take(i, now)) {
      post.complain(*letter, "sent a message to " + names_[i] + ", which takes none");
    }
    Wire& wire = *wires_[i];
    if (wire.end == nullptr) continue;
    wire.end->receive(now, wire.in,
                      {[&](std::span<const std::byte> message) { take(wire, i, message, post, now); },
                       [&](const std::string& what) { wrong(wire, what, now); }});
    if (now < wire.due || wire.sends.empty()) continue;
    wire.due = now + wire.section->every;
    send(wire, now);
  }
}

void RobotWires::take(Wire& wire, std::uint32_t who, std::span<const std::byte> message, programs::Post& post,
                      SimTime now) {
  if (wire.section->v2x) return say(wire, message, now);
  if (wire.takes.empty()) return wrong(wire, "nothing is taken on this wire", now);
  if (auto decoded = wire.in.decode(message, taken_); !decoded.ok()) return wrong(wire, decoded.error(), now);
  if (auto filled = fill_targets(wire); !filled.ok()) return wrong(wire, filled.error(), now);
  for (Target& target : wire.targets) {
    if (std::exchange(target.fresh, false)) post.write(who, now, target.variable, target.value);
  }
  ++wire.figures.taken;
}

/// All of it, or nothing.
Result<Done, std::string> RobotWires::fill_targets(Wire& wire) {
  std::vector<std::vector<std::byte>> values;
  for (Target& target : wire.targets) {
    values.push_back(target.value);
    target.fresh = false;
  }
  for (std::size_t i = 0; i < wire.takes.size(); ++i) {
    const TakenField& field = wire.takes[i];
    const std::vector<double>& numbers = taken_.values[i];
    if (numbers.empty()) continue;
    if (field.kind == TakenField::Kind::constant && numbers[0] != field.constant) {
      return fail("its `" + wire.in.fields()[i].name + "` is not " + wire.section->takes[i].second);
    }
    if (field.kind != TakenField::Kind::variable) continue;
    field.numbers->put(numbers, values[field.target]);
    wire.targets[field.target].fresh = true;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (auto good = plant_->check(wire.targets[i].variable, values[i]); !good.ok()) return good;
  }
  for (std::size_t i = 0; i < values.size(); ++i) wire.targets[i].value = std::move(values[i]);
  return Done{};
}

void RobotWires::send(Wire& wire, SimTime now) {
  values_.resize(wire.sends.size());
  for (std::size_t i = 0; i < wire.sends.size(); ++i) {
    Sent& sent = wire.sends[i];
    switch (sent.kind) {
      case Sent::Kind::variable:
        sent.numbers->read(*plant_, now, values_[i]);
        break;
      case Sent::Kind::constant:
        values_[i].assign(1, sent.constant);
        break;
      case Sent::Kind::time:
        values_[i].assign(1, now.since_zero().seconds());
        break;
      case Sent::Kind::time_ns:
        values_[i].assign(1, static_cast<double>(now.ns()));
        break;
      case Sent::Kind::count:
        values_[i].assign(1, static_cast<double>(wire.figures.sent + wire.figures.unheard));
        break;
    }
  }
  wire.out.encode(values_, bytes_);
  ++(wire.end->send(bytes_, now) ? wire.figures.sent : wire.figures.unheard);
}

void RobotWires::say(Wire& wire, std::span<const std::byte> octets, SimTime now) {
  if (octets.empty() || octets.size() > RadioPost::longest_frame) {
    return wrong(wire,
                 "a frame has 1 to " + std::to_string(RadioPost::longest_frame) + " octets, and this has " +
                     std::to_string(octets.size()),
                 now);
  }
  if (!say_ || !say_(wire.robot, now, octets))
    return wrong(wire, "its radio cannot send so much, or is not there", now);
  ++wire.figures.taken;
}

void RobotWires::frame(const std::string& robot, SimTime arrives, std::span<const std::uint8_t> octets) {
  for (const auto& wire : wires_) {
    if (!wire->section->v2x || wire->robot != robot || wire->end == nullptr) continue;
    ++(wire->end->send(std::as_bytes(octets), arrives) ? wire->figures.sent : wire->figures.unheard);
  }
}

void RobotWires::wrong(Wire& wire, const std::string& what, SimTime now) {
  if (wire.figures.wrong++ == 0) wire.figures.first_wrong = "at " + to_string(now) + ": " + what;
}

void RobotWires::finish(RunReport& report) const {
  for (const auto& wire : wires_) {
    const WireReport& figures = wire->figures;
    report.wires.push_back(figures);
    if (figures.wrong > 0) {
      report.notes.push_back("wire " + figures.name + " got " + std::to_string(figures.wrong) +
                             (figures.wrong == 1 ? " message" : " messages") + " that it could not read; the first " +
                             figures.first_wrong);
    }
    if (!wire->takes.empty() && figures.taken == 0 && figures.wrong == 0) {
      report.notes.push_back("wire " + figures.name + " took no message: nobody sent one that it could read to " +
                             figures.where);
    }
    if (!wire->sends.empty() && figures.sent == 0) {
      report.notes.push_back("wire " + figures.name + " sent nothing: nobody was there to hear it");
    }
  }
}

}  // namespace isochron
