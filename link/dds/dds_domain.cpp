#include "link/dds/dds_domain.hpp"

#include "core/input_error.hpp"

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

dds_entity_t good_entity(dds_entity_t entity, const std::string& what) {
  if (entity >= 0) return entity;
  throw InputError(
      {"", 0, 0}, "DDS: " + what + ": " + dds_strretcode(-entity),
      "look at the domain, the interface (`ip link` lists them; `lo` needs no multicast) and CYCLONEDDS_URI");
}

DdsParticipant::DdsParticipant(const DdsOptions& options, const std::string& user_data) {
  const std::string xml = cyclone_configuration(options);
  if (!xml.empty()) {
    domain_ = dds_create_domain(options.domain, xml.c_str());
    if (domain_ == DDS_RETCODE_PRECONDITION_NOT_MET) domain_ = 0;  // this process is in it already
    good_entity(domain_, "no domain " + std::to_string(options.domain));
  }
  const DdsQos qos(dds_create_qos());
  if (!user_data.empty()) dds_qset_userdata(qos.get(), user_data.data(), user_data.size());
  participant_ = dds_create_participant(options.domain, qos.get(), nullptr);
  if (participant_ < 0 && domain_ > 0) dds_delete(domain_);
  good_entity(participant_, "no participant in domain " + std::to_string(options.domain) +
                                (options.interface.empty() ? "" : " on " + options.interface));
}

DdsParticipant::~DdsParticipant() {
  dds_delete(participant_);
  if (domain_ > 0) dds_delete(domain_);
}

}  // namespace isochron::link
