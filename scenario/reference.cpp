#include "scenario/reference.hpp"

#include <nlohmann/json.hpp>

#include "core/foreign_text.hpp"
#include "scenario/scenario.hpp"

namespace isochron {
namespace {

using Json = nlohmann::ordered_json;

/// One type as documents show it: its name, its default, its schema, and the sections found inside it.
struct TypeText {
  std::string name;
  std::string standard;  // the default; "" = none
  Json schema;
};

// What is said of a value that stands by itself.

std::string quote(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }
Json span_schema() {
  return {{"type", Json::array({"string", "integer"})}, {"pattern", "^-?[0-9.]+ ?(ns|us|µs|ms|s|min|h)$|^0$"}};
}
TypeText text_of_value(const std::string& v) { return {"text", quote(v), {{"type", "string"}}}; }
TypeText text_of_value(bool v) { return {"true or false", v ? "`true`" : "`false`", {{"type", "boolean"}}}; }
TypeText text_of_value(double v) { return {"number", quote(Json(v).dump()), {{"type", "number"}}}; }
TypeText text_of_value(std::uint64_t v) {
  return {"whole number", quote(std::to_string(v)), {{"type", "integer"}, {"minimum", 0}}};
}
TypeText text_of_value(std::uint32_t v) { return text_of_value(std::uint64_t{v}); }
TypeText text_of_value(int v) { return {"whole number", quote(std::to_string(v)), {{"type", "integer"}}}; }
TypeText text_of_value(SimSpan v) { return {"time", quote(to_string(v)), span_schema()}; }
TypeText text_of_value(WallSpan v) { return {"wall time", quote(to_string(v)), span_schema()}; }
TypeText text_of_value(Fraction v) {
  return {"factor", quote(to_string(v)), {{"type", Json::array({"number", "string"})}}};
}
TypeText text_of_value(const FilePath&) { return {"file", "", {{"type", "string"}}}; }
TypeText text_of_value(const LibraryPath&) { return {"shared library", "", {{"type", "string"}}}; }
TypeText text_of_value(ByteSize v) {
  return {"size", quote(std::to_string(v.bytes >> 20) + "MiB"), {{"type", "string"}}};
}
TypeText text_of_value(const Pace& v) {
  return {"pace", quote(to_string(v)), {{"type", Json::array({"number", "string"})}}};
}
TypeText text_of_value(const StartDate& v) { return {"date, or `now`", quote(to_string(v)), {{"type", "string"}}}; }
TypeText text_of_value(const StartUp& v) {
  return {"`charged`, or a CPU time", quote(to_string(v)), {{"type", "string"}}};
}
TypeText text_of_value(const Share& v) {
  return {"share", quote(Json(v.value * 100).dump() + "%"), {{"type", Json::array({"number", "string"})}}};
}
TypeText text_of_value(const PolicySection&) {
  return {
      "`fixed-priority`, `least-progress`, a tree such as `{fair: {a: {share: 2, fixed: [x, y]}, b: {share: 1}}}`, "
      "or `{library: FILE}`",
      "`fixed-priority`",
      {{"oneOf", Json::array({{{"enum", Words<PolicyWord>::list}}, {{"type", "object"}}})}}};
}
TypeText text_of_value(const VariableTexts&) { return {"names with text", "", {{"type", "object"}}}; }
TypeText text_of_value(const ExpectSection&) {
  return {"names with expectations such as `always distance(prey, predator) > 1`, or a list of expectations",
          "",
          {{"oneOf", Json::array({{{"type", "object"}, {"additionalProperties", {{"type", "string"}}}},
                                  {{"type", "array"}, {"items", {{"type", "string"}}}}})}}};
}
TypeText text_of_value(const BitRate& v) {
  return {"rate", v.bits_per_s == 0 ? "none" : quote(Json(v.bits_per_s).dump() + "bit/s"), {{"type", "string"}}};
}
TypeText text_of_value(const DelayText&) { return {"delay", "`0`", {{"type", "string"}}}; }

/// Walks a description; collects the rows of this section and the sections below it.
class SectionWriter {
 public:
  explicit SectionWriter(std::string path) : path_(std::move(path)) {}

  template <class T>
  void required(const char* key, T& target, const char* doc) {
    row(key, target, doc, true);
  }
  template <class T>
  void optional(const char* key, T& target, const char* doc) {
    row(key, target, doc, false);
  }

  [[nodiscard]] std::string markdown() const {
    std::string text = "## " + (path_.empty() ? std::string("the file") : "`" + path_ + "`") +
                       "\n\n| key | value | default | meaning |\n|---|---|---|---|\n" + rows_ + "\n";
    for (const std::string& inner : inner_) text += inner;
    return text;
  }
  [[nodiscard]] Json schema() const {
    Json json{{"type", "object"}, {"properties", properties_}, {"additionalProperties", false}};
    if (!required_.empty()) json["required"] = required_;
    return json;
  }

 private:
  template <class T>
  void row(const char* key, T& target, const char* doc, bool needed) {
    TypeText type = text_of(target, path_.empty() ? key : path_ + "." + key);
    rows_ += std::string("| `") + key + "` | " + type.name + " | " + (needed ? "**required**" : type.standard) + " | " +
             doc + " |\n";
    type.schema["description"] = doc;
    properties_[key] = type.schema;
    if (needed) required_.push_back(key);
  }

  template <class T>
  requires(!std::is_base_of_v<Section, T> && requires(const T& value) { text_of_value(value); }) static TypeText
      text_of(T& value, const std::string&) {
    return text_of_value(value);
  }
  template <class E>
  requires std::is_enum_v<E>
  static TypeText text_of(E v, const std::string&) {
    std::string name;
    for (const char* word : Words<E>::list) name += (name.empty() ? "`" : ", `") + std::string(word) + "`";
    return {name, quote(Words<E>::list[static_cast<std::size_t>(v)]), {{"enum", Words<E>::list}}};
  }
  template <class T>
  TypeText text_of(std::optional<T>&, const std::string& path) {
    T value{};
    TypeText type = text_of(value, path);
    type.standard = "";
    return type;
  }
  template <class T>
  TypeText text_of(std::vector<T>&, const std::string& path) {
    T value{};
    const TypeText type = text_of(value, path);
    return {"list of " + type.name, "", {{"type", "array"}, {"items", type.schema}}};
  }
  template <class T, std::size_t n>
  TypeText text_of(std::array<T, n>& v, const std::string& path) {
    const TypeText type = text_of(v[0], path);
    return {std::to_string(n) + " numbers",
            quote(Json(v).dump()),
            {{"type", "array"}, {"items", type.schema}, {"minItems", n}, {"maxItems", n}}};
  }
  template <class T>
  TypeText text_of(Named<T>&, const std::string& path) {
    T value{};
    const TypeText type = text_of(value, path + ".NAME");
    return {"names with " + type.name, "", {{"type", "object"}, {"additionalProperties", type.schema}}};
  }
  template <class S>
  requires std::is_base_of_v<Section, S> TypeText text_of(S& section, const std::string& path) {
    SectionWriter inner(path);
    describe(inner, section);
    inner_.push_back(inner.markdown());
    Json schema = inner.schema();
    Json forms = Json::array();
    if constexpr (requires { from_word(section, std::string()); }) forms.push_back({{"type", "string"}});
    if constexpr (requires { list_form(section); }) forms.push_back({{"type", "array"}});
    if (!forms.empty()) {
      forms.push_back(schema);
      schema = {{"oneOf", forms}};
    }
    return {"[`" + path + "`](#" + anchor(path) + ")", "", schema};
  }
  static std::string anchor(const std::string& path) {
    std::string text;
    for (const char c : path) {
      if (c != '.') text += static_cast<char>(std::tolower(c));
    }
    return text;
  }

  std::string path_;
  std::string rows_;
  std::vector<std::string> inner_;
  Json properties_ = Json::object();
  Json required_ = Json::array();
};

}  // namespace

std::string scenario_reference() {
  Scenario scenario;
  SectionWriter writer("");
  describe(writer, scenario);
  return "# Scenario reference\n\nMade by `isochron reference` from the loader itself; do not edit.\n\n"
         "Times are a number and a unit: `10ms`, `1.5s`, `250us`. Files are looked for next to the scenario file. "
         "Every mistake is reported with file:line:column before anything starts.\n\n" +
         writer.markdown();
}

std::string scenario_json_schema() {
  Scenario scenario;
  SectionWriter writer("");
  describe(writer, scenario);
  Json json{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "Isochron scenario"}};
  json.update(writer.schema());
  return json_text(json, 2) + "\n";
}

}  // namespace isochron
