#include "link/dds/dds_options.hpp"

namespace isochron::link {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<' || c == '>' || c == '&' || c == '"') continue;  // no interface or host has these
    out += c;
  }
  return out;
}

}  // namespace

std::string cyclone_configuration(DdsOptions options) {
  if (options.interface.empty() && options.hosts.empty()) return "";
  if (options.interface == "lo" && options.hosts.empty()) options.hosts = {"127.0.0.1"};  // it has no multicast
  std::string xml = "<CycloneDDS><Domain id=\"any\"><General>";
  if (!options.interface.empty()) {
    const bool address = options.interface.find_first_of(".:") != std::string::npos;
    xml += std::string("<Interfaces><NetworkInterface ") + (address ? "address" : "name") + "=\"" +
           escaped(options.interface) + "\"/></Interfaces>";
  }
  xml += options.hosts.empty() ? "</General>" : "<AllowMulticast>false</AllowMulticast></General>";
  xml += "<Discovery><LeaseDuration>3s</LeaseDuration>";
  if (!options.hosts.empty()) {
    xml += "<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>60</MaxAutoParticipantIndex><Peers>";
    for (const std::string& host : options.hosts) xml += "<Peer address=\"" + escaped(host) + "\"/>";
    xml += "</Peers>";
  }
  return xml + "</Discovery></Domain></CycloneDDS>";
}

}  // namespace isochron::link
