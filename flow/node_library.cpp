#include "flow/node_library.hpp"

#include <dlfcn.h>

#include <charconv>
#include <cstring>

#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "flow/c_node.hpp"

namespace isochron::flow {

const std::string* Parameters::find(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return nullptr;
  used_.insert(found->first);
  return &found->second;
}

std::string Parameters::text(std::string_view key, std::string otherwise) const {
  note_asked(std::string(key), otherwise);
  const std::string* value = find(key);
  return value == nullptr ? otherwise : *value;
}

namespace {
template <class T>
T read(std::string_view key, const std::string& value, const char* what) {
  T number{};
  const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (code == std::errc{} && end == value.data() + value.size()) return number;
  throw InputError({}, "`" + std::string(key) + ": " + value + "` is not " + what);
}
}  // namespace

double Parameters::number(std::string_view key, double otherwise) const {
  char text[32];
  std::snprintf(text, sizeof text, "%g", otherwise);
  note_asked(std::string(key), text);
  const std::string* value = find(key);
  return value == nullptr ? otherwise : read<double>(key, *value, "a number");
}

std::int64_t Parameters::integer(std::string_view key, std::int64_t otherwise) const {
  note_asked(std::string(key), std::to_string(otherwise));
  const std::string* value = find(key);
  return value == nullptr ? otherwise : read<std::int64_t>(key, *value, "a whole number");
}

SimSpan Parameters::span(std::string_view key, SimSpan otherwise) const {
  note_asked(std::string(key), to_string(otherwise));
  const std::string* value = find(key);
  if (value == nullptr) return otherwise;
  const auto span = parse_span<SimClockTag>(*value);
  if (!span) throw InputError({}, "`" + std::string(key) + "`: " + span.error());
  return *span;
}

void Parameters::require_all_used() const {
  std::string unknown;
  for (const auto& [key, value] : values_) {
    if (!used_.contains(key)) unknown += (unknown.empty() ? "`" : ", `") + key + "`";
  }
  if (!unknown.empty()) throw InputError({}, "the node has no parameter " + unknown);
}

std::string refusal_of(const NodeTable& table) {
  if (table.abi != node_abi) {
    return "it was built for version " + std::to_string(table.abi) + " of the node interface, this is version " +
           std::to_string(node_abi);
  }
  if (table.layout == NodeLayout{}) return "";
  return std::string("it was built with ") + table.compiler + " against other headers, this program with " +
         __VERSION__ + "; build it again, or write the node against the C interface";
}

NodeLibrary NodeLibrary::open(const std::string& path) {
  const std::string library = "the node library " + path;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) throw InputError({}, library + " cannot be loaded: " + dlerror());
  using Entry = const NodeTable* (*)();
  using PlainEntry = const isochron_node_list* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(handle, "isochron_nodes"));
  const auto plain = reinterpret_cast<PlainEntry>(dlsym(handle, "isochron_node_types"));
  if (entry == nullptr && plain == nullptr) {
    throw InputError({}, library + " has no nodes",
                     "it must list them with ISOCHRON_NODES(…) in C++, or with isochron_node_types() in C");
  }
  const NodeTable* table = entry == nullptr ? nullptr : entry();
  const isochron_node_list* list = entry == nullptr ? plain() : nullptr;
  std::string refusal = table == nullptr ? "" : refusal_of(*table);
  if (list != nullptr && list->abi != ISOCHRON_NODE_ABI) {
    refusal = "it was built for version " + std::to_string(list->abi) +
              " of the C interface of nodes, this is version " + std::to_string(ISOCHRON_NODE_ABI);
  }
  if (!refusal.empty()) throw InputError({}, library + " cannot be used: " + refusal);
  return {path, table, list};
}

std::vector<NodeLibrary::Type> NodeLibrary::types() const {
  std::vector<Type> all;
  if (table_ != nullptr) {
    for (const NodeType& type : std::span(table_->types, table_->count)) all.push_back({type.name, type.about});
  } else {
    for (const isochron_node_type& type : std::span(list_->types, list_->count)) all.push_back({type.name, type.about});
  }
  return all;
}

std::unique_ptr<UserNode> NodeLibrary::make(const std::string& wanted, const Parameters& parameters) const {
  std::string known;
  const std::vector<Type> all = types();
  for (std::size_t i = 0; i < all.size(); ++i) {
    known += (known.empty() ? "" : ", ") + all[i].name;
    if (all[i].name != wanted && !(wanted.empty() && all.size() == 1)) continue;
    if (list_ != nullptr) return make_c_node(list_->types[i], parameters);
    std::string error;
    std::unique_ptr<UserNode> node(table_->types[i].make(parameters, error));
    if (node == nullptr) throw InputError({}, "node type " + all[i].name + ": " + error);
    return node;
  }
  if (wanted.empty()) throw InputError({}, path_ + " has several node types", "say which with `type`: " + known);
  throw InputError({}, path_ + " has no node type `" + wanted + "`", "it has " + known);
}

}  // namespace isochron::flow
