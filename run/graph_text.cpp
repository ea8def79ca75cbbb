#include "run/graph_text.hpp"

#include <cstring>
#include <deque>
#include <nlohmann/json.hpp>

#include "core/input_error.hpp"
#include "flow/definition.hpp"

namespace isochron {
namespace {

using Json = nlohmann::ordered_json;

Json type_json(const flow::PayloadType& type) {
  return {{"name", type.name}, {"definition", type.schema}, {"id", type.id},    {"memory", type.memory},
          {"size", type.size}, {"align", type.align},       {"flat", type.flat}};
}

/// A type that only its own library knows: here it is so many bytes.
const flow::PayloadType& bytes_type(const Json& json) {
  static std::deque<flow::PayloadType> all;
  flow::PayloadType type;
  type.name = json.at("name");
  type.id = json.at("id");
  type.memory = json.at("memory");
  type.size = json.at("size");
  type.align = json.at("align");
  type.flat = true;
  using Type = flow::PayloadType;
  type.functions = {
      [](const Type& t, void* at) { std::memset(at, 0, t.size); },
      [](const Type&, void*) {},
      [](const Type& t, void* to, const void* from) { std::memcpy(to, from, t.size); },
      [](const Type& t, const void*) { return t.size; },
      [](const Type& t, const void* value, std::span<std::byte> to) { std::memcpy(to.data(), value, t.size); },
      [](const Type& t, void* value, std::span<const std::byte> from) {
        return from.size() == t.size && (std::memcpy(value, from.data(), t.size), true);
      },
      [](const Type& t, std::uint64_t hash, const void* value) { return flow::mix_bytes(hash, value, t.size); },
      [](const Type& t, void* value, unsigned char pattern) { std::memset(value, pattern, t.size); }};
  for (const flow::PayloadType& known : all) {
    if (known.id == type.id && known.memory == type.memory) return known;
  }
  return all.emplace_back(std::move(type));
}

const flow::PayloadType& read_type(const Json& json) {
  const std::string name = json.at("name"), definition = json.at("definition");
  if (!definition.empty()) return flow::dynamic_type(name + "\n" + definition);
  try {
    const flow::PayloadType& number = flow::dynamic_type(name);
    if (number.id == json.at("id").get<std::uint64_t>()) return number;
  } catch (const InputError&) {
    // no number: a struct of a library
  }
  return bytes_type(json);
}

Json output_json(const flow::OutputInfo& output) {
  return {{"name", output.name},        {"kind", static_cast<int>(output.kind)}, {"period", output.period.ns()},
          {"first", output.first.ns()}, {"lookahead", output.lookahead.ns()},    {"capacity", output.capacity},
          {"varies", output.varies},    {"type", type_json(*output.type)}};
}

flow::OutputInfo read_output(const Json& json) {
  flow::OutputInfo output;
  output.name = json.at("name");
  output.kind = static_cast<flow::FlowKind>(json.at("kind").get<int>());
  output.period = SimSpan::from_ns(json.at("period"));
  output.first = SimTime::from_ns(json.at("first"));
  output.lookahead = SimSpan::from_ns(json.at("lookahead"));
  output.capacity = json.at("capacity");
  output.varies = json.at("varies");
  output.type = &read_type(json.at("type"));
  return output;
}

}  // namespace

std::string graph_text(const flow::Graph& graph) {
  Json nodes = Json::array(), connections = Json::array();
  for (const flow::NodeInfo& node : graph.nodes) {
    Json inputs = Json::array(), outputs = Json::array();
    for (const flow::InputInfo& input : node.inputs) {
      inputs.push_back({{"name", input.name}, {"type", type_json(*input.type)}});
    }
    for (const flow::OutputInfo& output : node.outputs) outputs.push_back(output_json(output));
    nodes.push_back({{"name", node.name}, {"inputs", inputs}, {"outputs", outputs}});
  }
  for (const auto& [output, input] : graph.connections) {
    connections.push_back({output.node, output.port, input.node, input.port});
  }
  return Json{{"start", graph.start.ns()}, {"nodes", nodes}, {"connections", connections}}.dump();
}

flow::Graph read_graph(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    flow::Graph graph;
    graph.start = SimTime::from_ns(json.at("start"));
    for (const Json& node : json.at("nodes")) {
      flow::NodeInfo info{node.at("name"), {}, {}};
      for (const Json& input : node.at("inputs"))
        info.inputs.push_back({input.at("name"), &read_type(input.at("type"))});
      for (const Json& output : node.at("outputs")) info.outputs.push_back(read_output(output));
      graph.nodes.push_back(std::move(info));
    }
    for (const Json& one : json.at("connections")) {
      graph.connections.push_back({{one.at(0), one.at(1)}, {one.at(2), one.at(3)}});
    }
    return graph;
  } catch (const Json::exception& error) {
    throw InputError({}, std::string("this is no description of a system: ") + error.what());
  }
}

}  // namespace isochron
