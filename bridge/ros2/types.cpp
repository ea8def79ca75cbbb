#include "bridge/ros2/types.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bridge/ros2/names.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "core/nearest_name.hpp"
#include "flow/definition.hpp"

namespace isochron::ros2 {
namespace {

namespace fs = std::filesystem;

constexpr int most_nested = 32;
constexpr std::uintmax_t largest_file = 1U << 20U;
constexpr const char* empty_field = "uint8 structure_needs_at_least_one_member\n";  // as rosidl has it
const std::string line_of_equals(80, '=');

bool is_primitive(std::string_view base) {
  static constexpr std::string_view all[] = {"bool",  "byte",   "char",  "int8",   "uint8",   "int16",   "uint16",
                                             "int32", "uint32", "int64", "uint64", "float32", "float64", "string"};
  return std::ranges::find(all, base) != std::end(all);
}

/// One line of a .msg file; nothing for comments and constants.
struct Line {
  std::string base, rest, name;  // float64, [9], covariance
};
bool read_line(std::string line, const std::string& package, Line& out) {
  line.resize(std::min(line.find('#'), line.size()));
  std::istringstream words(line);
  std::string type, name, after;
  words >> type >> name >> after;
  if (type.empty() || name.find('=') != std::string::npos || after.starts_with('=')) return false;
  if (name.empty()) throw InputError({}, "`" + foreign_name(line) + "`: a field needs a type and a name");
  const std::size_t end = std::min(type.find_first_of("[<"), type.size());
  out = {type.substr(0, end), type.substr(end), name};
  if (out.base == "wstring") throw InputError({}, "field `" + foreign_name(name) + "`: wstring is not supported");
  if (out.base == "byte" || out.base == "char") out.base = "uint8";
  if (out.base == "Header") out.base = "std_msgs/Header";
  if (out.base == "time") out.base = "builtin_interfaces/Time";
  if (out.base == "duration") out.base = "builtin_interfaces/Duration";
  if (const auto middle = out.base.find("/msg/"); middle != std::string::npos) out.base.erase(middle, 4);
  if (!is_primitive(out.base) && out.base.find('/') == std::string::npos) out.base = package + "/" + out.base;
  return true;
}

/// Fields alone, with full names of types; "" has the one byte that ROS 2 gives a message without fields.
std::string fields_of(const std::string& text, const std::string& package) {
  std::string fields, one;
  std::istringstream lines(text);
  Line line;
  while (std::getline(lines, one)) {
    if (read_line(one, package, line)) fields += line.base + line.rest + " " + line.name + "\n";
  }
  return fields.empty() ? empty_field : fields;
}

std::string package_of(std::string_view name) {
  return std::string(name.substr(0, std::min(name.find('/'), name.size())));
}

std::string read_whole(const std::string& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) throw InputError({path, 0, 0}, "cannot be read: " + error.message());
  if (size > largest_file) throw InputError({path, 0, 0}, "is larger than 1 MiB: no .msg file");
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

std::string canonical_text(const MessageSchema& schema) {
  static constexpr const char* names[] = {"bool",   "int8",  "uint8",  "int16",   "uint16",  "int32",
                                          "uint32", "int64", "uint64", "float32", "float64", "string"};
  std::string text;
  std::vector<std::size_t> order{0};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const MessageSchema::Definition& message = schema.messages[order[i]];
    if (i > 0) text += line_of_equals + "\nMSG: " + message.name + "\n";
    if (message.fields.empty()) text += empty_field;
    for (const SchemaField& field : message.fields) {
      const bool inner = field.type == FieldType::message;
      text += inner ? schema.messages[field.message].name : names[static_cast<std::size_t>(field.type)];
      if (field.many == SchemaField::Many::fixed) text += "[" + std::to_string(field.count) + "]";
      if (field.many == SchemaField::Many::sequence) text += "[]";
      text += " " + field.name + "\n";
      if (inner && std::ranges::find(order, field.message) == order.end()) order.push_back(field.message);
    }
  }
  return text;
}

Types::Types() {
  for (const Definition& known : catalogue()) {
    std::string text = known.text;
    std::ranges::replace(text, ';', '\n');
    texts_[known.name] = fields_of(text, package_of(known.name));
  }
}

void Types::add(const std::string& path) {
  if (!fs::is_directory(path)) return add_file(path);
  const fs::path folder = fs::is_directory(fs::path(path) / "msg") ? fs::path(path) / "msg" : fs::path(path);
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".msg") files.push_back(entry.path().string());
  }
  if (files.empty()) throw InputError({path, 0, 0}, "has no .msg files", "name a .msg file, or a package's folder");
  std::ranges::sort(files);
  for (const std::string& file : files) add_file(file);
}

void Types::add_file(const std::string& path) {
  const fs::path file = fs::absolute(path).lexically_normal();
  if (file.extension() != ".msg") throw InputError({path, 0, 0}, "is no .msg file");
  const bool usual = file.parent_path().filename() == "msg";
  const fs::path folder = usual ? file.parent_path().parent_path() : file.parent_path();
  const std::string package = folder.filename().string(), type = file.stem().string();
  check_node_name(package);
  check_node_name(type);
  const std::string text = read_whole(path);
  // Said with its line; messages of other files may come later.
  int number = 0;
  std::string one;
  std::istringstream lines(text);
  Line line;
  while (std::getline(lines, one)) {
    ++number;
    try {
      read_line(one, package, line);
    } catch (const InputError& error) {
      throw InputError({path, number, 1}, error.mistakes().front().what);
    }
  }
  texts_[package + "/msg/" + type] = fields_of(text, package);
}

void Types::append(const std::string& name, const std::string& used_by, std::string& text, int depth) const {
  const auto found = texts_.find(full_type_name(name));
  if (found == texts_.end()) {
    throw InputError({}, "nothing defines the type " + foreign_name(name) + ", which " + used_by + " has",
                     "add its .msg file to `types`");
  }
  if (depth > most_nested) throw InputError({}, "the type " + foreign_name(name) + " contains itself");
  if (!used_by.empty()) {
    const std::string heading = "MSG: " + name + "\n";
    if (text.find(heading) != std::string::npos) return;
    text += line_of_equals + "\n" + heading;
  }
  text += found->second;
  std::string one;
  std::istringstream lines(found->second);
  Line line;
  while (std::getline(lines, one)) {
    if (read_line(one, "", line) && !is_primitive(line.base)) append(line.base, found->first, text, depth + 1);
  }
}

std::string Types::definition(std::string_view name) const {
  const std::string full = full_type_name(name);
  if (!texts_.contains(full)) {
    throw InputError({}, "`" + foreign_name(std::string(name)) + "` is no message type that is known here",
                     "point `types` to its .msg file. " + nearest_hint(full, names()));
  }
  std::string text;
  append(full, "", text, 0);
  return text;
}

const flow::PayloadType& Types::type(std::string_view name) const {
  const std::string text = definition(name);
  const auto parsed = parse_ros2msg(full_type_name(name), text);  // arrays and names, with their line
  if (!parsed) throw InputError({}, parsed.error());
  return flow::dynamic_type(full_type_name(name) + "\n" + text);
}

std::vector<std::string> Types::names() const {
  std::vector<std::string> all;
  for (const auto& [name, text] : texts_) all.push_back(name);
  return all;
}

}  // namespace isochron::ros2
