#pragma once
// Reads SUMO's road networks, .net.xml. netconvert makes such files of OpenDRIVE, OpenStreetMap and others.
//
// Fails: InputError with the place: no XML, no network, shapes that are no numbers, connections to lanes that do not
//        exist.

#include <string>
#include <string_view>

#include "road/network.hpp"

namespace isochron::road {

Network read_net_xml(std::string_view text, const std::string& file);
/// The network file that a SUMO configuration names, as it stands there; "" = none.
std::string net_file_of(std::string_view sumocfg, const std::string& file);

}  // namespace isochron::road
