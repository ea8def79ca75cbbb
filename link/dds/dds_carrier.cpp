#include "link/dds/dds_carrier.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <map>

#include "link/dds/dds_domain.hpp"
#include "packet.h"  // made by idlc from packet.idl

namespace isochron::link {
namespace {

constexpr std::int32_t most_samples = 4096;           // that wait in one reader or writer
constexpr dds_duration_t lease = DDS_MSECS(700);      // liveliness: out of sight after so long
constexpr dds_duration_t may_block = DDS_MSECS(100);  // a full writer, before the sample is dropped
constexpr dds_duration_t round_every = DDS_MSECS(10);
constexpr std::size_t at_a_time = 64;

DdsQos packet_qos(std::uint32_t member) {
  DdsQos qos(dds_create_qos());
  dds_qset_reliability(qos.get(), DDS_RELIABILITY_RELIABLE, may_block);
  dds_qset_history(qos.get(), DDS_HISTORY_KEEP_ALL, 0);
  dds_qset_resource_limits(qos.get(), most_samples, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
  dds_qset_liveliness(qos.get(), DDS_LIVELINESS_AUTOMATIC, lease);
  dds_qset_userdata(qos.get(), &member, sizeof member);
  return qos;
}

std::string topic_name(const std::string& federation, const std::string& member) {
  std::string name = "isochron/" + federation + "/" + member;
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '/' && c != '_'; }, '_');
  return name;
}

}  // namespace

struct DdsCarrier::Entities {
  explicit Entities(const DdsOptions& options) : place(options), participant(place.entity()) {}
  DdsParticipant place;
  dds_entity_t participant;
  dds_entity_t reader = 0;
  dds_entity_t waitset = 0;
  std::vector<dds_entity_t> writers;                   // by member; 0 = none
  std::map<dds_instance_handle_t, std::uint32_t> who;  // publications seen, and whose they are
};

DdsCarrier::DdsCarrier(const std::string& federation, const std::vector<std::string>& names, std::uint32_t self,
                       std::vector<std::uint32_t> peers, const DdsOptions& options)
    : dds_(std::make_unique<Entities>(options)), peers_(std::move(peers)) {
  const auto topic = [&](std::uint32_t member) {
    const std::string name = topic_name(federation, names[member]);
    return good_entity(dds_create_topic(dds_->participant, &isochron_dds_Packet_desc, name.c_str(), nullptr, nullptr),
                       name);
  };
  dds_->reader =
      good_entity(dds_create_reader(dds_->participant, topic(self), packet_qos(self).get(), nullptr), "no reader");
  dds_->writers.resize(names.size());
  for (const std::uint32_t peer : peers_) {
    dds_->writers[peer] =
        good_entity(dds_create_writer(dds_->participant, topic(peer), packet_qos(self).get(), nullptr), "no writer");
  }
  dds_->waitset = good_entity(dds_create_waitset(dds_->participant), "no waitset");
  dds_set_status_mask(dds_->reader, DDS_DATA_AVAILABLE_STATUS | DDS_LIVELINESS_CHANGED_STATUS);
  dds_waitset_attach(dds_->waitset, dds_->reader, dds_->reader);
}

DdsCarrier::~DdsCarrier() = default;

void DdsCarrier::start(Events events) { events_ = std::move(events); }

void DdsCarrier::send(std::uint32_t to, std::span<const std::byte> packet) {
  isochron_dds_Packet sample{};
  sample.bytes._length = sample.bytes._maximum = static_cast<std::uint32_t>(packet.size());
  sample.bytes._buffer = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(packet.data()));
  (void)dds_write(dds_->writers[to], &sample);  // what does not go now is sent again by the session
}

bool DdsCarrier::take_all() {
  std::array<void*, at_a_time> samples{};
  std::array<dds_sample_info_t, at_a_time> infos;
  bool any = false;
  for (;;) {
    const dds_return_t count = dds_take(dds_->reader, samples.data(), infos.data(), at_a_time, at_a_time);
    if (count <= 0) return any;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      if (!infos[i].valid_data) continue;
      const auto& sample = *static_cast<const isochron_dds_Packet*>(samples[i]);
      (void)events_.packet(std::as_bytes(std::span(sample.bytes._buffer, sample.bytes._length)));
      any = true;
    }
    dds_return_loan(dds_->reader, samples.data(), count);
  }
}

/// Liveliness names a publication; its user data says whose it is. One that is gone can no longer be asked, so they are
/// remembered while they live.
void DdsCarrier::look_for_lost() {
  dds_liveliness_changed_status_t status;
  if (dds_get_liveliness_changed_status(dds_->reader, &status) != DDS_RETCODE_OK) return;
  std::array<dds_instance_handle_t, 256> handles{};
  const dds_return_t count = dds_get_matched_publications(dds_->reader, handles.data(), handles.size());
  std::map<dds_instance_handle_t, std::uint32_t> now;
  for (dds_return_t i = 0; i < std::min<dds_return_t>(count, static_cast<dds_return_t>(handles.size())); ++i) {
    dds_builtintopic_endpoint_t* endpoint =
        dds_get_matched_publication_data(dds_->reader, handles[static_cast<std::size_t>(i)]);
    if (endpoint == nullptr) continue;
    void* data = nullptr;
    std::size_t size = 0;
    std::uint32_t member = 0;
    if (dds_qget_userdata(endpoint->qos, &data, &size) && size == sizeof member) {
      std::memcpy(&member, data, sizeof member);
      if (member < dds_->writers.size()) now.emplace(handles[static_cast<std::size_t>(i)], member);
    }
    dds_free(data);
    dds_builtintopic_free_endpoint(endpoint);
  }
  for (const auto& [handle, member] : dds_->who) {
    const bool lost =
        !now.contains(handle) || (status.alive_count_change < 0 && status.last_publication_handle == handle);
    if (lost && events_.out_of_sight) events_.out_of_sight(member);
  }
  dds_->who = std::move(now);
}

void DdsCarrier::run() {
  std::int64_t round_at = 0;
  while (!stop_.load(std::memory_order_relaxed)) {
    dds_attach_t woke = 0;
    (void)dds_waitset_wait(dds_->waitset, &woke, 1, round_every);
    std::uint32_t changes = 0;
    dds_take_status(dds_->reader, &changes, DDS_DATA_AVAILABLE_STATUS | DDS_LIVELINESS_CHANGED_STATUS);
    const bool any = take_all();
    const dds_time_t now = dds_time();
    if ((changes & DDS_LIVELINESS_CHANGED_STATUS) != 0) look_for_lost();
    if (!any && now < round_at) continue;
    round_at = now + round_every;
    events_.round();
  }
  stop_.store(false);
}

}  // namespace isochron::link
