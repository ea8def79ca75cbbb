#include "link/dds/dds_domain.hpp"

#include "core/input_error.hpp"

namespace isochron::link {

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
