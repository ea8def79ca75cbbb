#include "scenario/value.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "core/foreign_text.hpp"

namespace isochron {
namespace {

constexpr std::size_t deepest = 64;

/// Builds the tree from yaml-cpp's events. Mistakes are collected; the parser's own errors end the parsing.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string file) : file_(std::move(file)) {}

  Value root;
  std::vector<Mistake> mistakes;
  bool too_deep = false;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    add({.place = place(mark)});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    mistake(mark, "aliases (*name) are not used in scenarios", "write the value again");
    add({.place = place(mark)});
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string& text) override {
    refuse_anchor(mark, anchor);
    if (first_bad_byte(text) != std::string::npos) {  // written as an escape
      mistake(mark, "there is a control character in this text", "only line feeds and tabs may be in it");
    }
    add({.kind = Value::Kind::scalar, .place = place(mark), .scalar = text});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    refuse_anchor(mark, anchor);
    open({.kind = Value::Kind::list, .place = place(mark)});
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse_anchor(mark, anchor);
    open({.kind = Value::Kind::map, .place = place(mark)});
  }
  void OnMapEnd() override { close(); }

 private:
  /// A container under construction, and the key that waits for its value.
  struct Open {
    Value value;
    bool has_key = false;
    std::string key;
    Place key_place;
    std::unordered_map<std::string, int> lines{};  // of its keys
  };

  [[nodiscard]] Place place(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }
  void mistake(const YAML::Mark& mark, std::string what, std::string hint) {
    mistakes.push_back({place(mark), std::move(what), std::move(hint)});
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) mistake(mark, "anchors (&name) are not used in scenarios", "write the value where it is needed");
  }
  void open(Value value) {
    if (stack_.size() >= deepest) {
      too_deep = true;
      throw YAML::ParserException(YAML::Mark::null_mark(), "nested more than 64 deep");
    }
    stack_.push_back({std::move(value), false, {}, {}, {}});
  }
  void close() {
    Value value = std::move(stack_.back().value);
    stack_.pop_back();
    add(std::move(value));
  }
  void add(Value value) {
    if (stack_.empty()) {
      root = std::move(value);
      return;
    }
    Open& top = stack_.back();
    if (top.value.kind == Value::Kind::list) {
      top.value.items.push_back(std::move(value));
    } else if (!top.has_key) {
      take_key(top, value);
    } else {
      top.value.entries.push_back({std::move(top.key), top.key_place, std::move(value)});
      top.has_key = false;
    }
  }
  void take_key(Open& top, const Value& value) {
    if (value.kind != Value::Kind::scalar) mistakes.push_back({value.place, "a key must be plain text", ""});
    const auto [first, fresh] = top.lines.try_emplace(value.scalar, value.place.line);
    if (!fresh && value.kind == Value::Kind::scalar) {
      mistakes.push_back({value.place, "`" + value.scalar + "` is given twice",
                          "the first is at line " + std::to_string(first->second)});
    }
    top.has_key = true;
    top.key = value.scalar;
    top.key_place = value.place;
  }

  std::string file_;
  std::vector<Open> stack_;
};

}  // namespace

const Value* Value::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

/// A scenario is text: what is not would end up in reports and on terminals.
void refuse_what_is_no_text(const std::string& text, const std::string& file) {
  std::size_t bad = first_bad_byte(text);
  while (bad != std::string::npos && text[bad] == '\r') {  // of lines that end as on another system
    const std::size_t next = first_bad_byte(std::string_view(text).substr(bad + 1));
    bad = next == std::string::npos ? next : bad + 1 + next;
  }
  if (bad == std::string::npos) return;
  const auto before = std::string_view(text).substr(0, bad);
  const auto line = std::count(before.begin(), before.end(), '\n');
  const auto column = bad - (before.rfind('\n') + 1);  // npos + 1 is 0
  throw InputError({file, static_cast<int>(line) + 1, static_cast<int>(column) + 1}, "this is not UTF-8 text",
                   "save the file as UTF-8, without control characters");
}

Value parse_yaml(const std::string& text, const std::string& file) {
  refuse_what_is_no_text(text, file);
  TreeBuilder builder(file);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    TreeBuilder second(file);
    if (parser.HandleNextDocument(second)) {
      builder.mistakes.push_back({second.root.place, "a second YAML document", "one scenario in a file"});
    }
  } catch (const YAML::Exception& error) {
    Place place{file, error.mark.is_null() ? 0 : error.mark.line + 1, error.mark.is_null() ? 0 : error.mark.column + 1};
    builder.mistakes.push_back({std::move(place), "not YAML: " + error.msg, ""});
  }
  if (!builder.mistakes.empty()) throw InputError(std::move(builder.mistakes));
  if (builder.root.place.file.empty()) builder.root.place = {file, 1, 1};
  return std::move(builder.root);
}

void set_path(Value& root, std::string_view path, const std::string& text, const std::string& origin) {
  Value* at = &root;
  std::string_view rest = path;
  while (true) {
    const auto dot = rest.find('.');
    const std::string key(rest.substr(0, dot));
    if (key.empty()) throw InputError({origin, 0, 0}, "`" + std::string(path) + "` is not a path such as time.quantum");
    if (at->kind == Value::Kind::null) at->kind = Value::Kind::map;
    if (at->kind != Value::Kind::map) {
      throw InputError({origin, 0, 0}, "`" + std::string(path) + "`: what stands before `" + key + "` is not a map");
    }
    auto entry = std::find_if(at->entries.begin(), at->entries.end(), [&](const auto& e) { return e.key == key; });
    if (entry == at->entries.end()) {
      at->entries.push_back({key, {origin, 0, 0}, Value{.place = {origin, 0, 0}}});
      entry = at->entries.end() - 1;
    }
    at = &entry->value;
    if (dot == std::string_view::npos) break;
    rest = rest.substr(dot + 1);
  }
  *at = parse_yaml(text, origin);
}

namespace {

std::string quoted(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_./+-") == std::string::npos;
  if (plain && text != "null" && text.front() != '-') return text;
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    if (byte >= 0x20 && byte != 0x7f) {
      out += c;
    } else {
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", byte);
      out += code;
    }
  }
  return out + "\"";
}

void write_yaml(const Value& value, std::size_t depth, std::string& out) {
  const std::string indent(2 * depth, ' ');
  switch (value.kind) {
    case Value::Kind::null:
      out += " null\n";
      break;
    case Value::Kind::scalar:
      out += " " + quoted(value.scalar) + "\n";
      break;
    case Value::Kind::list:
      out += value.items.empty() ? " []\n" : "\n";
      for (const Value& item : value.items) {
        out += indent + "-";
        write_yaml(item, depth + 1, out);
      }
      break;
    case Value::Kind::map:
      out += value.entries.empty() ? " {}\n" : "\n";
      for (const Value::Entry& entry : value.entries) {
        out += indent + quoted(entry.key) + ":";
        write_yaml(entry.value, depth + 1, out);
      }
      break;
  }
}

}  // namespace

std::string to_yaml(const Value& value) {
  std::string out;
  write_yaml(value, 0, out);
  if (value.kind == Value::Kind::map || value.kind == Value::Kind::list) out.erase(0, 1);  // it began on a new line
  return out;
}

}  // namespace isochron
