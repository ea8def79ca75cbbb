#include "journal/ros2msg.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

namespace isochron {
namespace {

constexpr int depth_max = 64;

/// A field as written, before the messages that it may name are known.
struct WrittenField {
  SchemaField field;
  std::string type_name;
  int line = 0;
};
struct WrittenMessage {
  std::string name;
  std::vector<WrittenField> fields;
};

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// package/msg/Name and package/Name are the same.
std::string short_name(std::string_view name) {
  std::string text(name);
  if (const auto msg = text.find("/msg/"); msg != std::string::npos) text.erase(msg, 4);
  return text;
}

std::string package_of(const std::string& name) { return name.substr(0, std::min(name.find('/'), name.size())); }

std::optional<FieldType> primitive(std::string_view name) {
  static const std::map<std::string_view, FieldType> known{
      {"bool", FieldType::boolean},    {"byte", FieldType::uint8},    {"char", FieldType::uint8},
      {"int8", FieldType::int8},       {"uint8", FieldType::uint8},   {"int16", FieldType::int16},
      {"uint16", FieldType::uint16},   {"int32", FieldType::int32},   {"uint32", FieldType::uint32},
      {"int64", FieldType::int64},     {"uint64", FieldType::uint64}, {"float32", FieldType::float32},
      {"float64", FieldType::float64}, {"string", FieldType::text}};
  const auto found = known.find(name);
  if (found == known.end()) return std::nullopt;
  return found->second;
}

bool read_count(std::string_view text, std::uint32_t& count) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && end == text.data() + text.size();
}

/// Takes "[3]", "[]" or "[<=3]" off the end of a type.
bool take_array(std::string_view& type, SchemaField& field) {
  if (type.empty() || type.back() != ']') return true;
  const auto open = type.rfind('[');
  if (open == std::string_view::npos) return false;
  std::string_view inside = type.substr(open + 1, type.size() - open - 2);
  type = type.substr(0, open);
  field.many = SchemaField::Many::sequence;
  if (inside.empty()) return true;
  if (inside.starts_with("<=")) {
    inside.remove_prefix(2);
  } else {
    field.many = SchemaField::Many::fixed;
  }
  return read_count(inside, field.count);
}

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && std::ranges::all_of(text, fits);
}

/// `MODE=1` or `MODE = 1` after the type.
bool is_constant(std::string_view after_type) {
  const auto end = after_type.find_first_of(" \t=");
  if (end == std::string_view::npos) return false;
  return trim(after_type.substr(end)).starts_with('=');
}

class Parser {
 public:
  explicit Parser(std::string_view name) { messages_.push_back({short_name(name), {}}); }

  bool read(std::string_view text) {
    while (!text.empty() && error_.empty()) {
      ++line_;
      read_line(take_line(text));
    }
    return error_.empty();
  }

  Result<MessageSchema, std::string> resolve() {
    add_builtin("builtin_interfaces/Time", "int32 sec\nuint32 nanosec\n");
    add_builtin("builtin_interfaces/Duration", "int32 sec\nuint32 nanosec\n");
    MessageSchema schema;
    for (WrittenMessage& message : messages_) {
      schema.messages.push_back({message.name, {}});
      for (WrittenField& written : message.fields) {
        if (written.field.type == FieldType::message && !find_message(message, written)) return fail(error_);
        schema.messages.back().fields.push_back(written.field);
      }
    }
    depth_.assign(schema.messages.size(), unknown);
    if (depth(schema, 0) < 0) return fail(std::string("a message contains itself, or messages nest too deeply"));
    return schema;
  }
  const std::string& error() const { return error_; }

 private:
  static constexpr int unknown = -2;
  static constexpr int being_looked_at = -3;

  void refuse(int line, const std::string& what) {
    if (error_.empty()) error_ = "schema " + messages_.front().name + ", line " + std::to_string(line) + ": " + what;
  }

  void read_line(std::string_view raw) {
    const std::string_view line = trim(raw.substr(0, std::min(raw.find('#'), raw.size())));
    if (line.empty() || line.starts_with("===")) return;
    if (line.starts_with("MSG:")) {
      messages_.push_back({short_name(trim(line.substr(4))), {}});
      return;
    }
    read_field(line);
  }

  void read_field(std::string_view line) {
    const auto space = line.find_first_of(" \t");
    if (space == std::string_view::npos) return refuse(line_, "a field needs a type and a name");
    std::string_view type = line.substr(0, space);
    const std::string_view after = trim(line.substr(space));
    if (is_constant(after)) return;
    WrittenField written;
    written.line = line_;
    if (!take_array(type, written.field)) return refuse(line_, "a wrong array: " + std::string(line.substr(0, space)));
    if (const auto bound = type.find("<="); bound != std::string_view::npos) type = type.substr(0, bound);
    written.field.name = after.substr(0, std::min(after.find_first_of(" \t"), after.size()));
    if (!is_name(written.field.name)) return refuse(line_, "not a name: " + written.field.name);
    if (type == "wstring") return refuse(line_, "wstring is not supported");
    written.field.type = primitive(type).value_or(FieldType::message);
    if (written.field.type == FieldType::message) written.type_name = short_name(type);
    messages_.back().fields.push_back(std::move(written));
  }

  void add_builtin(const char* name, std::string_view text) {
    if (index_of(name)) return;
    messages_.push_back({name, {}});
    while (!text.empty()) read_field(take_line(text));
  }

  std::optional<std::size_t> index_of(const std::string& name) {
    if (by_name_.size() != messages_.size()) {
      by_name_.clear();
      for (std::size_t i = 0; i < messages_.size(); ++i) by_name_.emplace(messages_[i].name, i);
    }
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return std::nullopt;
    return found->second;
  }

  bool find_message(const WrittenMessage& inside, WrittenField& written) {
    const std::string& name = written.type_name;
    auto index = index_of(name);
    if (!index && name.find('/') == std::string::npos) index = index_of(package_of(inside.name) + "/" + name);
    if (!index && (name == "time" || name == "duration")) index = index_of("builtin_interfaces/Time");
    if (!index) return refuse(written.line, "nothing defines the type " + name), false;
    written.field.message = *index;
    return true;
  }

  /// How deep the messages inside nest; < 0: too deep, or without end.
  int depth(const MessageSchema& schema, std::size_t message) {
    if (depth_[message] != unknown) return depth_[message];
    depth_[message] = being_looked_at;
    int deepest = 0;
    for (const SchemaField& field : schema.messages[message].fields) {
      if (field.type != FieldType::message) continue;
      const int inner = depth(schema, field.message);
      if (inner < 0 || inner + 1 > depth_max) return -1;
      deepest = std::max(deepest, inner + 1);
    }
    return depth_[message] = deepest;
  }

  std::vector<WrittenMessage> messages_;
  std::map<std::string, std::size_t> by_name_;
  std::vector<int> depth_;
  std::string error_;
  int line_ = 0;
};

}  // namespace

std::size_t size_of(FieldType type) {
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
    case FieldType::text:
    case FieldType::message:
      return 0;
  }
  return 0;
}

Result<MessageSchema, std::string> parse_ros2msg(std::string_view name, std::string_view text) {
  Parser parser(name);
  if (!parser.read(text)) return fail(parser.error());
  return parser.resolve();
}

}  // namespace isochron
