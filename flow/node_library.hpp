#pragma once
// Nodes in shared libraries, so that a scenario file can name them. A library lists its types once:
//
//     ISOCHRON_NODES(isochron::flow::node_type<Planet>("Planet", "a body that others pull", "in: pull…; out:
//     position"))
//
// where Planet has a constructor from (const Parameters&). Whoever runs the scenario opens the library and makes nodes
// by name.
//
// A library of nodes in C (isochron_node.h) is opened alike, whatever compiler built it.
//
// Promises: a library in C++ that was built against other versions of these headers, or with another C++ runtime, is
//           refused with a sentence instead of crashing. Nothing is thrown across the boundary. Libraries stay loaded
//           until the program ends, because their nodes' code lives in them.
// Fails:    NodeLibrary::open and make throw InputError.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/isochron_node.h"
#include "flow/parameters.hpp"
#include "flow/user_node.hpp"

namespace isochron::flow {

inline constexpr std::uint32_t node_abi = 2;

/// What both sides must agree on in memory. Versions of one compiler do as a rule, whatever they are called.
struct NodeLayout {
  std::uint32_t user_node = sizeof(UserNode), in_port = sizeof(InPort), out_port = sizeof(OutPort);
  std::uint32_t output_info = sizeof(OutputInfo), payload_type = sizeof(PayloadType), text = sizeof(std::string);
#ifdef __GXX_ABI_VERSION
  std::uint32_t cxx_abi = __GXX_ABI_VERSION;
#else
  std::uint32_t cxx_abi = 0;
#endif
#ifdef _LIBCPP_VERSION
  std::uint32_t other_runtime = 1;
#else
  std::uint32_t other_runtime = 0;
#endif
  friend bool operator==(const NodeLayout&, const NodeLayout&) = default;
};

struct NodeType {
  const char* name = nullptr;
  const char* about = nullptr;
  const char* ports = nullptr;  // in words, for people; the ports themselves are those of the node made
  UserNode* (*make)(const Parameters& parameters, std::string& error) = nullptr;  // null = error says why
};

struct NodeTable {
  std::uint32_t abi = node_abi;
  const char* compiler = __VERSION__;
  NodeLayout layout = {};
  const NodeType* types = nullptr;
  std::size_t count = 0;
};

template <std::derived_from<UserNode> N>
NodeType node_type(const char* name, const char* about, const char* ports) {
  return {name, about, ports, [](const Parameters& parameters, std::string& error) -> UserNode* {
            try {
              auto node = std::make_unique<N>(parameters);
              parameters.require_all_used();
              return node.release();
            } catch (const std::exception& exception) {
              error = exception.what();
              return nullptr;
            }
          }};
}

class NodeLibrary {
 public:
  static NodeLibrary open(const std::string& path);

  struct Type {
    std::string name, about;
  };
  [[nodiscard]] std::vector<Type> types() const;
  /// `type` "" = the only one there is.
  [[nodiscard]] std::unique_ptr<UserNode> make(const std::string& type, const Parameters& parameters) const;

 private:
  NodeLibrary(std::string path, const NodeTable* table, const isochron_node_list* list)
      : path_(std::move(path)), table_(table), list_(list) {}
  std::string path_;
  const NodeTable* table_;          // in C++, or
  const isochron_node_list* list_;  // in C
};

/// Whether this program can use nodes of that table; if not, why.
std::string refusal_of(const NodeTable& table);

}  // namespace isochron::flow

#define ISOCHRON_NODES(...)                                                                                \
  extern "C" const isochron::flow::NodeTable* isochron_nodes() {                                           \
    static const isochron::flow::NodeType types[] = {__VA_ARGS__};                                         \
    static const isochron::flow::NodeTable table{.types = types, .count = sizeof types / sizeof types[0]}; \
    return &table;                                                                                         \
  }
