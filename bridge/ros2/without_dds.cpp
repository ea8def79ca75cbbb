// What stands in for graph.cpp in a build without DDS: scenarios that want it were refused at their place before;
// whoever comes here by another way is told the same.

#include "bridge/ros2/graph.hpp"
#include "core/build_parts.hpp"
#include "core/ensure.hpp"

namespace isochron::ros2 {
namespace {

constexpr const char* never_made = "the constructor throws";

}  // namespace

class Graph::Entities {};

Graph::Graph(const std::string&, const std::string&, const link::DdsOptions&, News) { need_part("DDS", {}); }
Graph::~Graph() = default;

std::size_t Graph::advertise(const std::string&, const std::string&, const Qos&) { ENSURE(false, never_made); }
std::size_t Graph::subscribe(const std::string&, const std::string&, const Qos&, Take) { ENSURE(false, never_made); }
void Graph::serve(const std::string&, const std::string&, Serve) { ENSURE(false, never_made); }
void Graph::tell_all_nodes(const std::string&, const std::string&, std::vector<std::byte>) {
  ENSURE(false, never_made);
}
void Graph::start() { ENSURE(false, never_made); }
bool Graph::publish(std::size_t, std::size_t, const Fill&) { ENSURE(false, never_made); }
unsigned Graph::listeners(std::size_t) const { ENSURE(false, never_made); }
unsigned Graph::speakers(std::size_t) const { ENSURE(false, never_made); }
std::vector<std::string> Graph::nodes() const { ENSURE(false, never_made); }

}  // namespace isochron::ros2
