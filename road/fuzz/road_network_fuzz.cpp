// Any text as a road network: it may be refused, with a place, and nothing else; what is taken makes a model.

#include "core/input_error.hpp"
#include "road/intersections.hpp"
#include "road/model.hpp"
#include "road/net_xml.hpp"

using namespace isochron;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    (void)road::net_file_of(text, "m.sumocfg");
    const road::Network network = road::read_net_xml(text, "m.net.xml");
    for (const road::Connection& connection : network.connections) {
      if (connection.from >= network.lanes.size() || connection.to >= network.lanes.size()) __builtin_trap();
      if (connection.signal && connection.link >= network.signals[*connection.signal].links) __builtin_trap();
    }
    (void)road::model_text(network, {"m", road::centre(network), 2});

    (void)road::intersections_text(network, {});
  } catch (const InputError& error) {
    for (const Mistake& mistake : error.mistakes()) {
      if (mistake.place.file.empty()) __builtin_trap();
    }
  }
  return 0;
}
