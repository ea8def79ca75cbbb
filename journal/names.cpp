#include "journal/names.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/ensure.hpp"
#include "core/nearest_name.hpp"
#include "journal/journal_file.hpp"

namespace isochron {
namespace {

constexpr std::size_t most_listed = 16;     // elements of an array of fixed length
constexpr std::size_t most_names = 200000;  // a file could claim any number
constexpr const char* turn_type = "isochron_msgs/Turn";

/// Topics under which the rest of the topic is what the record is about.
constexpr std::array<std::string_view, 6> kinds_of_record{"/vehicles/", "/aircraft/", "/deadlines/",
                                                          "/turns/",    "/programs/", "/isochron/"};

std::string prefix_of(const std::string& topic) {
  for (const std::string_view kind : kinds_of_record) {
    if (topic.starts_with(kind) && topic.size() > kind.size()) return topic.substr(kind.size()) + ".";
  }
  return topic.substr(topic.starts_with('/') ? 1 : 0) + ".";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return lines;
}

/// Words of the record that have another one among people.
std::string word_of(const std::string& message, const std::string& field) {
  if (message != "isochron_msgs/AgentState") return field;
  if (field == "linear") return "velocity";
  if (field == "angular") return "angular_velocity";
  return field;
}

/// `response_ns` is the time `response`.
struct Unit {
  std::string_view ending;
  double scale;
};
constexpr std::array<Unit, 2> time_units{{{"_ns", 1e-9}, {"_s", 1}}};

/// `path[2].y` as the list has it, `path[0].y`, and the numbers that were there.
std::string first_elements(std::string_view name, std::vector<std::size_t>& indices) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    text += name[i];
    if (name[i] != '[') continue;
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(name.data() + i + 1, name.data() + name.size(), index);
    if (error != std::errc()) return "";
    indices.push_back(index);
    text += '0';
    i = static_cast<std::size_t>(end - name.data()) - 1;
  }
  return text;
}

std::vector<std::string> element_words(const SchemaField& field) {
  if (field.many != SchemaField::Many::fixed || field.type == FieldType::message) return {};
  if (field.count == 2) return {".x", ".y"};
  if (field.count == 3) return {".x", ".y", ".z"};
  if (field.count == 4 && field.name == "orientation") return {".w", ".x", ".y", ".z"};
  return {};
}

}  // namespace

/// Walks a schema and names what is in it.
class Names::Lister {
 public:
  Lister(Names& names, std::size_t channel) : names_(names), channel_(channel), of_(names.channels_.at(channel)) {}

  void list() { message(0, of_.prefix, whole_prefix()); }

 private:
  [[nodiscard]] std::string whole_prefix() const { return of_.topic.substr(of_.topic.starts_with('/') ? 1 : 0) + "."; }

  void message(std::size_t index, const std::string& name, const std::string& whole) {
    const MessageSchema::Definition& definition = of_.schema->messages[index];
    for (std::size_t i = 0; i < definition.fields.size(); ++i) {
      if (names_.numbers_.size() > most_names) return;
      const SchemaField& field = definition.fields[i];
      const std::string word = word_of(definition.name, field.name);
      way_.push_back({i, 0});
      // A flow `yellow.position` with a field `position` is not called yellow.position.position.
      const bool said = way_.size() == 1 && name.ends_with("." + word + ".");
      one_field(field, said ? name.substr(0, name.size() - 1) : name + word,
                said ? whole.substr(0, whole.size() - 1) : whole + word);
      way_.pop_back();
    }
  }

  void one_field(const SchemaField& field, const std::string& name, const std::string& whole) {
    if (field.many == SchemaField::Many::one) return one(field, name, whole);
    if (way_.size() == 1 && list_by_metadata(field)) return;
    if (field.type == FieldType::message && list_by_key(field)) return;
    if (field.type == FieldType::uint8 && field.many == SchemaField::Many::sequence) return;  // bytes
    const auto words = element_words(field);
    const std::size_t count =
        field.many == SchemaField::Many::fixed ? std::min<std::size_t>(field.count, most_listed) : 1;
    for (std::size_t i = 0; i < count; ++i) {
      way_.back().index = i;
      const std::string element = "[" + std::to_string(i) + "]";
      if (!words.empty()) names_.aliases_.emplace(name + element, name + words[i]);
      const std::string& word = words.empty() ? element : words[i];
      one(field, name + word, whole + word);
    }
    way_.back().index = 0;
  }

  void one(const SchemaField& field, const std::string& name, const std::string& whole) {
    if (field.type == FieldType::message && !is_time_message(of_.schema->messages[field.message].name)) {
      return message(field.message, name + ".", whole + ".");
    }
    leaf(field, name, whole);
  }

  void leaf(const SchemaField& field, std::string name, std::string whole) {
    NamedNumber number{.topic = of_.topic, .channel = channel_, .way = way_};
    number.quantity = names_.quantity_of(channel_, way_);
    if (number.quantity == Quantity::number) {
      for (const Unit& unit : time_units) {
        if (!field.name.ends_with(unit.ending) || field.name.size() == unit.ending.size()) continue;
        number.quantity = Quantity::time;
        number.scale = unit.scale;
        if (field.many == SchemaField::Many::one) {
          name.resize(name.size() - unit.ending.size());
          whole.resize(whole.size() - unit.ending.size());
        }
        break;
      }
    }
    number.name = std::move(name);
    if (collecting_ != nullptr) return collecting_->push_back(std::move(number));
    // A record of one number is called as its topic: drift, not drift.drift.
    const std::string word = number.name.substr(number.name.rfind('.') + 1);
    if (number.name == of_.prefix + word && of_.prefix == word + ".") number.name = word;
    names_.claim(std::move(number), whole);
  }

  bool list_by_metadata(const SchemaField& field) {
    const auto names = of_.metadata.find(names_metadata::names_of + field.name);
    if (names == of_.metadata.end()) return false;
    const auto found = of_.metadata.find(names_metadata::parts_of + field.name);
    const std::vector<std::string> parts =
        found == of_.metadata.end() ? std::vector<std::string>{""} : lines_of(found->second);
    std::size_t index = 0;
    for (const std::string& name : lines_of(names->second)) {
      for (const std::string& part : parts) {
        way_.back().index = index++;
        if (name.empty() || names_.numbers_.size() > most_names) continue;
        const std::string full = part.empty() ? name : name + "." + part;
        leaf(field, full, full);
      }
    }
    way_.back().index = 0;
    return true;
  }

  /// Elements that say who they are.
  bool list_by_key(const SchemaField& field) {
    const auto& fields = of_.schema->messages[field.message].fields;
    const auto key = std::ranges::find(fields, "name", &SchemaField::name);
    if (key == fields.end() || key->type != FieldType::text || key->many != SchemaField::Many::one) return false;
    if (collecting_ != nullptr || way_.size() != 1) return false;
    Keyed keyed{channel_, way_, static_cast<std::size_t>(key - fields.begin()), {}, {}};
    collecting_ = &keyed.leaves;
    message(field.message, ".", ".");
    collecting_ = nullptr;
    names_.keyed_.push_back(std::move(keyed));
    return true;
  }

  Names& names_;
  std::size_t channel_;
  const ChannelNames& of_;
  FieldWay way_;
  std::vector<NamedNumber>* collecting_ = nullptr;
};

std::optional<double> NumberReader::number(std::span<const std::byte> record) {
  const auto value = field_.number(record);
  if (!value || number_.made == NamedNumber::Made::as_recorded) {
    return value ? std::optional(*value * number_.scale) : value;
  }
  // Of a turn: from when the program was ready until it waits, over all turns between.
  if (!since_) since_ = from_->number(record);
  const auto preempted = preempted_->text(record);
  if (!since_ || !preempted || !preempted->empty()) return std::nullopt;
  const double response = *value - *since_;
  since_.reset();
  return response;
}

void Names::add(std::size_t channel, const ChannelDefinition& definition) {
  if (definition.options.message_encoding != "cdr" || definition.schema.encoding != "ros2msg") return;
  add(channel, definition.topic, definition.schema.name, definition.schema.text, definition.options.metadata);
}

void Names::add(std::size_t channel, const mcap::Channel& described, const mcap::Schema* schema) {
  if (schema == nullptr || described.encoding != "cdr" || schema->encoding != "ros2msg") return;
  add(channel, described.topic, schema->name, schema->text, described.metadata);
}

void Names::add(std::size_t channel, std::string topic, const std::string& schema_name, const std::string& schema_text,
                const mcap::TextMap& metadata) {
  auto parsed = parse_ros2msg(schema_name, schema_text);
  if (!parsed || channels_.contains(channel)) return;
  const bool turns = parsed->messages[0].name == turn_type;
  std::string prefix = prefix_of(topic);
  channels_.emplace(channel, ChannelNames{std::move(topic), prefix, metadata,
                                          std::make_shared<const MessageSchema>(std::move(*parsed))});
  if (turns) {
    if (auto to = find_way(*channels_.at(channel).schema, "to")) {
      claim({.name = prefix + "response",
             .topic = channels_.at(channel).topic,
             .channel = channel,
             .way = *to,
             .quantity = Quantity::time,
             .made = NamedNumber::Made::turn_response},
            prefix + "response");
    }
  }
  Lister(*this, channel).list();
}

void Names::claim(NamedNumber number, const std::string& whole_name) {
  if (numbers_.contains(number.name)) number.name = whole_name;
  std::string name = number.name;
  numbers_.emplace(std::move(name), std::move(number));
}

Quantity Names::quantity_of(std::size_t channel, const FieldWay& way) const {
  const MessageSchema& schema = *channels_.at(channel).schema;
  std::size_t message = 0;
  const SchemaField* field = nullptr;
  for (const FieldStep& step : way) {
    field = &schema.messages[message].fields[step.field];
    message = field->message;
  }
  ENSURE(field != nullptr, "an empty way");
  if (field->type == FieldType::message) return Quantity::time;
  if (field->type == FieldType::boolean) return Quantity::truth;
  return field->type == FieldType::text ? Quantity::text : Quantity::number;
}

bool Names::names_are_in_records(std::size_t channel) const {
  return std::ranges::any_of(keyed_, [&](const Keyed& keyed) { return keyed.channel == channel; });
}

bool Names::learn(std::size_t channel, std::span<const std::byte> record) {
  bool news = false;
  std::vector<std::string> keys;
  for (Keyed& keyed : keyed_) {
    if (keyed.channel != channel) continue;
    keys.clear();
    FieldReader(channels_.at(channel).schema, keyed.array).keys(record, keyed.key_field, keys);
    for (const std::string& key : keys) {
      if (key.empty() || numbers_.size() > most_names || !keyed.known.insert(key).second) continue;
      news = true;
      for (NamedNumber leaf : keyed.leaves) {
        leaf.name = key + leaf.name;
        leaf.way[keyed.array.size() - 1].key = key;
        leaf.way[keyed.array.size() - 1].key_field = keyed.key_field;
        const std::string whole = channels_.at(channel).prefix + leaf.name;
        claim(std::move(leaf), whole);
      }
    }
  }
  return news;
}

std::optional<NamedNumber> Names::find_field(std::string_view topic, std::string_view path) const {
  for (const auto& [channel, names] : channels_) {
    if (names.topic != topic) continue;
    auto way = find_way(*names.schema, path);
    if (!way) return std::nullopt;
    NamedNumber number{.name = std::string(topic) + ":" + std::string(path), .topic = names.topic, .channel = channel};
    number.way = std::move(*way);
    number.quantity = quantity_of(channel, number.way);
    return number;
  }
  return std::nullopt;
}

std::optional<NamedNumber> Names::find(std::string_view name) const {
  if (const auto found = numbers_.find(name); found != numbers_.end()) return found->second;
  if (const auto alias = aliases_.find(name); alias != aliases_.end()) return find(alias->second);
  if (const auto colon = name.rfind(':'); colon != std::string_view::npos) {
    return find_field(name.substr(0, colon), name.substr(colon + 1));
  }
  std::vector<std::size_t> indices;
  const auto found = numbers_.find(first_elements(name, indices));
  if (found == numbers_.end() || indices.empty()) return std::nullopt;
  NamedNumber number = found->second;
  const MessageSchema& schema = *channels_.at(number.channel).schema;
  std::size_t message = 0, next = 0;
  for (FieldStep& step : number.way) {
    const SchemaField& field = schema.messages[message].fields[step.field];
    message = field.message;
    if (field.many == SchemaField::Many::one || !step.key.empty()) continue;
    if (next >= indices.size()) return std::nullopt;
    step.index = indices[next++];
    if (field.many == SchemaField::Many::fixed && step.index >= field.count) return std::nullopt;
  }
  if (next != indices.size()) return std::nullopt;
  number.name = std::string(name);
  return number;
}

std::string Names::name_of(const std::string& topic_and_field) const {
  const auto wanted = find(topic_and_field);
  if (!wanted) return topic_and_field;
  for (const auto& [name, number] : numbers_) {
    const bool same = number.channel == wanted->channel && number.made == wanted->made && number.way == wanted->way;
    if (same) return name;
  }
  return topic_and_field;
}

NumberReader Names::reader(const NamedNumber& number) const {
  const auto& schema = channels_.at(number.channel).schema;
  FieldReader field(schema, number.way);
  if (number.made == NamedNumber::Made::as_recorded) return {std::move(field), number};
  auto from = find_way(*schema, "asked"), preempted = find_way(*schema, "preempted_by");
  if (!from || !preempted) return {std::move(field), number};
  return {std::move(field), number, FieldReader(schema, std::move(*from)), FieldReader(schema, std::move(*preempted))};
}

std::vector<std::string> Names::all() const {
  std::vector<std::string> names;
  names.reserve(numbers_.size());
  for (const auto& [name, number] : numbers_) names.push_back(name);
  return names;
}

std::vector<std::string> Names::numbers() const {
  std::vector<std::string> names;
  for (const auto& [name, number] : numbers_) {
    if (number.quantity != Quantity::text) names.push_back(name);
  }
  return names;
}

std::string Names::hint(std::string_view name) const { return nearest_hint(name, all()); }

const std::vector<std::string>& body_parts() {
  static const std::vector<std::string> parts{
      "position.x",         "position.y",         "position.z",        "orientation.w", "orientation.x",
      "orientation.y",      "orientation.z",      "velocity.x",        "velocity.y",    "velocity.z",
      "angular_velocity.x", "angular_velocity.y", "angular_velocity.z"};
  return parts;
}

void name_elements(mcap::TextMap& metadata, const std::string& field, const std::vector<std::string>& names,
                   const std::vector<std::string>& parts) {
  const auto lines = [](const std::vector<std::string>& all) {
    std::string text;
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::string line = all[i];
      std::ranges::replace(line, '\n', ' ');
      text += (i == 0 ? "" : "\n") + line;
    }
    return text;
  };
  metadata[names_metadata::names_of + field] = lines(names);
  if (!parts.empty()) metadata[names_metadata::parts_of + field] = lines(parts);
}

}  // namespace isochron
