#include "flow/definition.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>

#include "core/input_error.hpp"

namespace isochron::flow {
namespace {

constexpr const char* time_name = "builtin_interfaces/Time";
constexpr std::size_t most_bytes = 256U << 20U;
const std::string line_of_equals(80, '=');

struct Primitive {
  const char* name;
  std::size_t size;
};
constexpr Primitive primitives[] = {{"bool", 1},   {"int8", 1},    {"uint8", 1},  {"int16", 2},
                                    {"uint16", 2}, {"int32", 4},   {"uint32", 4}, {"int64", 8},
                                    {"uint64", 8}, {"float32", 4}, {"float64", 8}};

std::size_t size_of_primitive(const std::string& name) {
  for (const Primitive& primitive : primitives) {
    if (name == primitive.name) return primitive.size;
  }
  return 0;
}

[[noreturn]] void refuse(const std::string& what) {
  throw InputError({}, "the message type " + what, "write its name, then a line `type name` for each field");
}

struct FieldText {
  std::string base;      // without brackets
  std::string brackets;  // "", "[3]" or "[]"
  std::string name;
};
using Sections = std::map<std::string, std::vector<FieldText>>;

/// One number in a flat value.
struct Leaf {
  std::size_t offset = 0;  // in memory
  std::size_t size = 0;
  bool time = false;  // in memory nanoseconds; in CDR seconds and nanoseconds
};

struct Layout {
  bool flat = true;
  std::size_t size = 0, align = 1;
  std::vector<Leaf> leaves;
};

struct Definition {
  PayloadType type;
  std::vector<Leaf> leaves;
  std::vector<std::pair<std::size_t, std::size_t>> padding;  // offset, size
  std::size_t cdr_size = 0;
};

const Definition& definition_of(const PayloadType& type) { return *static_cast<const Definition*>(type.definition); }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::unique_ptr<Definition> read() {
    split();
    auto made = std::make_unique<Definition>();
    PayloadType& type = made->type;
    type.name = name_;
    const bool number = size_of_primitive(name_) != 0 && sections_.at("").empty();
    Layout layout;
    if (number) {
      add_leaf(layout, {0, size_of_primitive(name_), false}, size_of_primitive(name_));
    } else {
      if (sections_.at("").empty()) refuse("`" + name_ + "` has no fields");
      type.schema = canonical();
      layout = layout_of("", 0);
    }
    finish(*made, layout, number);
    return made;
  }

 private:
  void split() {
    std::istringstream in{std::string(text_)};
    std::string line, section;
    sections_[""];
    while (std::getline(in, line)) {
      if (const auto comment = line.find('#'); comment != std::string::npos) line.resize(comment);
      std::istringstream words(line);
      std::string first, second;
      words >> first >> second;
      if (first.empty()) continue;
      if (name_.empty()) {
        name_ = first;
        if (!second.empty()) refuse("begins with `" + line + "`");
      } else if (first.starts_with("====")) {
        continue;
      } else if (first == "MSG:") {
        section = second;
        sections_[section];
      } else if (second.find('=') == std::string::npos) {  // a constant is no field
        sections_[section].push_back(field(first, second));
      }
    }
    if (name_.empty()) refuse("is empty");
  }

  FieldText field(const std::string& type, const std::string& name) const {
    if (name.empty()) refuse("`" + name_ + "`: field `" + type + "` has no name");
    const auto bracket = type.find('[');
    FieldText field{type.substr(0, bracket), bracket == std::string::npos ? "" : type.substr(bracket), name};
    if (field.brackets.starts_with("[<=")) field.brackets = "[]";
    if (field.base.starts_with("string<=")) field.base = "string";
    if (field.base == "byte") field.base = "uint8";
    if (field.base == "char") field.base = "uint8";
    return field;
  }

  [[nodiscard]] const std::vector<FieldText>& fields_of(const std::string& section) const {
    const auto found = sections_.find(section);
    if (found == sections_.end()) refuse("`" + name_ + "` has a field of type `" + section + "`, which is not defined");
    return found->second;
  }

  /// The text as ros2msg_schema() makes it.
  std::string canonical() {
    std::string text = own_fields("");
    add_parts("", text, 0);
    return text;
  }
  std::string own_fields(const std::string& section) const {
    std::string text;
    for (const FieldText& field : fields_of(section)) text += field.base + field.brackets + " " + field.name + "\n";
    return text;
  }
  void add_parts(const std::string& section, std::string& text, int depth) const {
    if (depth > 32) refuse("`" + name_ + "` contains itself");
    for (const FieldText& field : fields_of(section)) {
      if (size_of_primitive(field.base) != 0 || field.base == "string") continue;
      const std::string heading = "MSG: " + field.base + "\n";
      if (text.find(heading) != std::string::npos) continue;
      text += line_of_equals + "\n" + heading;
      if (field.base == time_name) {
        text += "int32 sec\nuint32 nanosec\n";
        continue;
      }
      text += own_fields(field.base);
      add_parts(field.base, text, depth + 1);
    }
  }

  static void add_leaf(Layout& layout, Leaf leaf, std::size_t align) {
    leaf.offset = (layout.size + align - 1) / align * align;
    layout.size = leaf.offset + leaf.size;
    layout.align = std::max(layout.align, align);
    layout.leaves.push_back(leaf);
  }

  Layout layout_of(const std::string& section, int depth) const {
    if (depth > 32) refuse("`" + name_ + "` contains itself");
    Layout layout;
    for (const FieldText& field : fields_of(section)) {
      std::size_t count = 1;
      if (field.base == "string" || field.brackets == "[]") {
        layout.flat = false;
        count = 0;
      } else if (!field.brackets.empty()) {
        count = std::strtoull(field.brackets.c_str() + 1, nullptr, 10);
        if (count == 0 || count > most_bytes) refuse("`" + name_ + "`: field `" + field.name + "` has no good length");
      }
      const std::size_t size = size_of_primitive(field.base);
      if (size != 0 || field.base == time_name) {
        for (std::size_t i = 0; i < count; ++i)
          add_leaf(layout, {0, size != 0 ? size : 8, size == 0}, size != 0 ? size : 8);
      } else if (field.base != "string") {
        add_part(layout, layout_of(field.base, depth + 1), count);
      }
      if (layout.size > most_bytes) refuse("`" + name_ + "` is larger than 256 MiB");
    }
    layout.size = (layout.size + layout.align - 1) / layout.align * layout.align;
    return layout;
  }

  static void add_part(Layout& layout, const Layout& part, std::size_t count) {
    layout.flat = layout.flat && part.flat;
    layout.align = std::max(layout.align, part.align);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = (layout.size + part.align - 1) / part.align * part.align;
      for (Leaf leaf : part.leaves) {
        leaf.offset += at;
        layout.leaves.push_back(leaf);
      }
      layout.size = at + part.size;
    }
  }

  void finish(Definition& made, const Layout& layout, bool number) const;

  std::string_view text_;
  std::string name_;
  Sections sections_;
};

// ---- flat values: C structs ----

void clear_gaps(const Definition& definition, std::byte* value) {
  for (const auto& [offset, size] : definition.padding) std::memset(value + offset, 0, size);
}

std::size_t align_up(std::size_t at, std::size_t size) { return (at + size - 1) / size * size; }

bool is_number(const PayloadType& type) { return type.schema.empty(); }

void encode_flat(const PayloadType& type, const void* value, std::span<std::byte> to) {
  const auto* from = static_cast<const std::byte*>(value);
  if (is_number(type)) return void(std::memcpy(to.data(), from, type.size));
  std::memset(to.data(), 0, to.size());
  to[1] = std::byte{1};
  std::byte* body = to.data() + cdr_header_size;
  std::size_t at = 0;
  for (const Leaf& leaf : definition_of(type).leaves) {
    at = align_up(at, leaf.time ? 4 : leaf.size);
    if (leaf.time) {
      std::int64_t ns = 0;
      std::memcpy(&ns, from + leaf.offset, 8);
      cdr::Writer(body + at).put(SimTime::from_ns(ns));
    } else {
      std::memcpy(body + at, from + leaf.offset, leaf.size);
    }
    at += leaf.size;
  }
}

bool decode_flat(const PayloadType& type, void* value, std::span<const std::byte> from) {
  auto* to = static_cast<std::byte*>(value);
  const Definition& definition = definition_of(type);
  if (from.size() < definition.cdr_size) return false;
  if (is_number(type)) return from.size() == type.size && (std::memcpy(to, from.data(), type.size), true);
  if (from[0] != std::byte{0} || from[1] != std::byte{1}) return false;
  const std::span<const std::byte> body = from.subspan(cdr_header_size);
  std::size_t at = 0;
  for (const Leaf& leaf : definition.leaves) {
    at = align_up(at, leaf.time ? 4 : leaf.size);
    if (leaf.time) {
      SimTime time;
      cdr::Reader reader(body.subspan(at, 8));
      reader.get(time);
      if (!reader.ok()) return false;
      const std::int64_t ns = time.ns();
      std::memcpy(to + leaf.offset, &ns, 8);
    } else {
      std::memcpy(to + leaf.offset, body.data() + at, leaf.size);
    }
    at += leaf.size;
  }
  clear_gaps(definition, to);
  return true;
}

constexpr PayloadType::Functions flat_functions = {
    [](const PayloadType& type, void* at) { std::memset(at, 0, type.size); },
    [](const PayloadType&, void*) {},
    [](const PayloadType& type, void* to, const void* from) { std::memcpy(to, from, type.size); },
    [](const PayloadType& type, const void*) { return definition_of(type).cdr_size; },
    &encode_flat,
    &decode_flat,
    [](const PayloadType& type, std::uint64_t hash, const void* value) { return mix_bytes(hash, value, type.size); },
    [](const PayloadType& type, void* value, unsigned char pattern) {
      std::memset(value, pattern, type.size);
      clear_gaps(definition_of(type), static_cast<std::byte*>(value));
    }};

// ---- values of any size: their CDR bytes ----

PlainBytes& bytes_of(void* value) { return *static_cast<PlainBytes*>(value); }
const PlainBytes& bytes_of(const void* value) { return *static_cast<const PlainBytes*>(value); }

constexpr PayloadType::Functions bytes_functions = {
    [](const PayloadType&, void* at) { new (at) PlainBytes{}; },
    [](const PayloadType&, void* at) { bytes_of(at).~PlainBytes(); },
    [](const PayloadType&, void* to, const void* from) { bytes_of(to) = bytes_of(from); },
    [](const PayloadType&, const void* value) { return bytes_of(value).cdr.size(); },
    [](const PayloadType&, const void* value, std::span<std::byte> to) {
      if (!to.empty()) std::memcpy(to.data(), bytes_of(value).cdr.data(), to.size());
    },
    [](const PayloadType&, void* value, std::span<const std::byte> from) {
      if (from.size() < cdr_header_size || from[0] != std::byte{0} || from[1] != std::byte{1}) return false;
      bytes_of(value).cdr.assign(from.begin(), from.end());
      return true;
    },
    [](const PayloadType&, std::uint64_t hash, const void* value) {
      return mix_bytes(hash, bytes_of(value).cdr.data(), bytes_of(value).cdr.size());
    },
    [](const PayloadType&, void* value, unsigned char) { bytes_of(value).cdr.clear(); }};

void Reader::finish(Definition& made, const Layout& layout, bool number) const {
  PayloadType& type = made.type;
  type.definition = &made;
  type.flat = layout.flat;
  type.id = payload::id_of(type.name, type.schema, number ? layout.size : 0);
  if (!layout.flat) {
    const std::string words = "CDR of " + type.name;
    type.size = sizeof(PlainBytes);
    type.align = alignof(PlainBytes);
    type.memory = mix_bytes(11, words.data(), words.size());
    type.functions = bytes_functions;
    return;
  }
  type.size = layout.size;
  type.align = layout.align;
  std::uint64_t hash = 7;
  std::size_t end = 0, cdr = 0;
  for (const Leaf& leaf : layout.leaves) {
    hash = mix(hash, leaf.offset, leaf.size);
    if (leaf.offset > end) made.padding.emplace_back(end, leaf.offset - end);
    end = leaf.offset + leaf.size;
    cdr = align_up(cdr, leaf.time ? 4 : leaf.size) + leaf.size;
  }
  if (layout.size > end) made.padding.emplace_back(end, layout.size - end);
  made.leaves = layout.leaves;
  made.cdr_size = number ? layout.size : cdr_header_size + cdr;
  type.memory = mix(hash, type.size, type.align);
  type.functions = flat_functions;
}

}  // namespace

const PayloadType& dynamic_type(std::string_view text) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<Definition>> known;
  auto made = Reader(text).read();
  const std::lock_guard lock(mutex);
  const std::string key = type_text(made->type);
  return known.emplace(key, std::move(made)).first->second->type;
}

bool has_gaps(const PayloadType& type) { return type.flat && !definition_of(type).padding.empty(); }

void clear_gaps(const PayloadType& type, void* value) {
  clear_gaps(definition_of(type), static_cast<std::byte*>(value));
}

std::string type_text(const PayloadType& type) {
  return type.schema.empty() ? type.name : type.name + "\n" + type.schema;
}

}  // namespace isochron::flow
