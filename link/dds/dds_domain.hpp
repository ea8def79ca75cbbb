#pragma once
// A place in a DDS domain: Cyclone's configuration for what a scenario says (interface, hosts), and the participant.
//
// Threads: owner thread.
// Fails:   what DDS does not let us do throws InputError with its reason and what to look at.

#include <dds/dds.h>

#include <memory>
#include <string>

#include "link/dds/dds_options.hpp"

namespace isochron::link {

struct FreeQos {
  void operator()(dds_qos_t* qos) const { dds_delete_qos(qos); }
};
using DdsQos = std::unique_ptr<dds_qos_t, FreeQos>;

/// Throws what Cyclone says if this is no entity.
dds_entity_t good_entity(dds_entity_t entity, const std::string& what);

class DdsParticipant {
 public:
  /// `user_data` is what others see of it when they find it.
  explicit DdsParticipant(const DdsOptions& options, const std::string& user_data = "");
  ~DdsParticipant();
  DdsParticipant(const DdsParticipant&) = delete;
  DdsParticipant& operator=(const DdsParticipant&) = delete;
  [[nodiscard]] dds_entity_t entity() const { return participant_; }

 private:
  dds_entity_t domain_ = 0;  // 0: it was there, or is as CYCLONEDDS_URI says
  dds_entity_t participant_ = 0;
};

}  // namespace isochron::link
