#include "flow/node_library.hpp"

#include <dlfcn.h>

#include <charconv>
#include <cstring>

#include "core/input_error.hpp"
#include "core/time_text.hpp"

namespace isochron::flow {

const std::string* Parameters::find(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return nullptr;
  used_.insert(found->first);
  return &found->second;
}

std::string Parameters::text(std::string_view key, std::string otherwise) const {
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
  const std::string* value = find(key);
  return value == nullptr ? otherwise : read<double>(key, *value, "a number");
}

std::int64_t Parameters::integer(std::string_view key, std::int64_t otherwise) const {
  const std::string* value = find(key);
  return value == nullptr ? otherwise : read<std::int64_t>(key, *value, "a whole number");
}

SimSpan Parameters::span(std::string_view key, SimSpan otherwise) const {
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
  if (table.user_node_size != sizeof(UserNode) || std::strcmp(table.compiler, __VERSION__) != 0) {
    return std::string("it was built with ") + table.compiler + " and other headers, this program with " + __VERSION__;
  }
  return "";
}

NodeLibrary NodeLibrary::open(const std::string& path) {
  const std::string library = "the node library " + path;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) throw InputError({}, library + " cannot be loaded: " + dlerror());
  using Entry = const NodeTable* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(handle, "isochron_nodes"));
  if (entry == nullptr) throw InputError({}, library + " has no nodes", "it must list them with ISOCHRON_NODES(…)");
  const NodeTable* table = entry();
  const std::string refusal = refusal_of(*table);
  if (!refusal.empty()) throw InputError({}, library + " cannot be used: " + refusal, "build it again");
  return {path, table};
}

std::unique_ptr<UserNode> NodeLibrary::make(std::string_view name, const Parameters& parameters) const {
  std::string known;
  for (const NodeType& type : types()) {
    known += std::string(known.empty() ? "" : ", ") + type.name;
    if (type.name != name) continue;
    std::string error;
    std::unique_ptr<UserNode> node(type.make(parameters, error));
    if (node == nullptr) throw InputError({}, "node type " + std::string(name) + ": " + error);
    return node;
  }
  throw InputError({}, path_ + " has no node type `" + std::string(name) + "`", "it has " + known);
}

}  // namespace isochron::flow
