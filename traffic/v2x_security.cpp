#include "traffic/v2x_security.hpp"

#include <algorithm>

#include "v2x/codec/codec.hpp"

namespace isochron {
namespace {

constexpr std::size_t most_verified = 4096;
constexpr std::uint64_t most_old_us = 700'000, most_early_us = 50'000;  // as stations take unsigned ones
constexpr std::uint16_t hours = 24 * 7;

std::uint64_t psid(int message_id) {
  // What has no number of its own goes with the vehicle's safety messages.
  return v2x::psid_of(message_id).value_or(*v2x::psid_of(v2x::id_bsm));
}
std::vector<std::uint64_t> psids(std::initializer_list<int> message_ids) {
  std::vector<std::uint64_t> list;
  for (const int id : message_ids) list.push_back(psid(id));
  return list;
}

}  // namespace

V2xSecurity::V2xSecurity(const Scenario& scenario)
    : section_(*scenario.v2x->security),
      epoch_ns_(scenario.time.epoch.epoch.unix_ns),
      seed_("isochron/v2x/" + std::to_string(scenario.seed)) {
  for (const auto& [name, intersection] : scenario.v2x->intersections) lights_.insert(name);
  const auto from_s = static_cast<std::uint32_t>(time64(SimTime::zero()) / 1'000'000);
  authority_ = v2x::make_authority(seed_, "authority of " + scenario.name, from_s);
  trust_.vouch_for(*v2x::decode_certificate(authority_.certificate));
  for (const std::string& name : section_.revoked)
    trust_.revoke(signer(name, !lights_.contains(name)).credentials.digest);
}

std::uint64_t V2xSecurity::time64(SimTime at) const { return v2x::time64_of_unix_ns(epoch_ns_ + at.ns()); }

V2xSecurity::Signer& V2xSecurity::signer(const std::string& station, bool vehicle) {
  const auto found = signers_.find(station);
  if (found != signers_.end()) return found->second;
  const auto from_s = static_cast<std::uint32_t>(time64(SimTime::zero()) / 1'000'000);
  const auto purposes = vehicle ? psids({v2x::id_bsm, v2x::id_psm, v2x::id_srm})
                                : psids({v2x::id_spat, v2x::id_map, v2x::id_tim, v2x::id_ssm, v2x::id_rtcm});
  Signer& made = signers_[station];
  made.credentials = v2x::make_credentials(authority_, seed_, station, from_s, hours, purposes);
  made.signs = std::ranges::find(section_.without, station) == section_.without.end();
  return made;
}

v2x::Bytes V2xSecurity::sealed(Signer& by, SimTime at, const v2x::Bytes& message) const {
  const bool whole = at >= by.next_certificate;
  if (whole) by.next_certificate = at + section_.certificate_every;
  const int id = message.size() < 2 ? 0 : (message[0] & 0x7f) << 8 | message[1];
  return v2x::signed_message(by.credentials, {message, psid(id), time64(at)}, whole);
}

v2x::Bytes V2xSecurity::signed_by(const std::string& station, SimTime at, v2x::Bytes message) {
  Signer& by = signer(station, !lights_.contains(station));
  return by.signs && !v2x::is_envelope(message) ? sealed(by, at, message) : message;
}

v2x::Bytes V2xSecurity::signed_by_stranger(const std::string& name, SimTime at, v2x::Bytes message) {
  return sealed(signer(name, true), at, message);
}

std::vector<v2x::Bytes> V2xSecurity::certificates(const std::vector<std::string>& stations) {
  std::vector<v2x::Bytes> all{authority_.certificate};
  for (const std::string& name : stations) {
    all.push_back(signer(name, !lights_.contains(name)).credentials.certificate);
  }
  return all;
}

std::string V2xSecurity::doubts(const std::string& station, SimTime received, const v2x::Envelope& envelope,
                                std::span<const std::uint8_t> octets) {
  if (!envelope.signed_part) return "is not signed";
  const v2x::SignedPart& part = *envelope.signed_part;
  std::set<v2x::Digest8>& known = known_[station];
  if (part.signer == v2x::SignerKind::digest && !known.contains(part.digest)) return "its certificate is not known yet";
  if (!part.header.generation_us) return "does not say when it was signed";
  const std::uint64_t now_us = time64(received);
  if (*part.header.generation_us + most_old_us < now_us || *part.header.generation_us > now_us + most_early_us) {
    return "is too old, or from later";
  }
  const v2x::Sha256 hash = v2x::sha256(octets);
  auto verified = verified_.find(hash);
  if (verified == verified_.end()) {
    if (verified_.size() >= most_verified) verified_.clear();
    verified = verified_.emplace(hash, trust_.doubts(envelope)).first;
  }
  const bool brings = part.signer == v2x::SignerKind::certificate && !part.certificates.empty();
  if (verified->second.empty() && brings) known.insert(v2x::digest_of(part.certificates.front()));
  return verified->second;
}

std::optional<v2x::Bytes> V2xSecurity::believed(const std::string& station, SimTime received,
                                                std::span<const std::uint8_t> octets) {
  const bool any = section_.accept == Accept::any;
  if (!v2x::is_envelope(octets)) {
    if (any) return v2x::Bytes(octets.begin(), octets.end());
    ++refused_;
    return std::nullopt;
  }
  const auto envelope = v2x::open_envelope(octets);
  if (!envelope.ok() || (!any && !doubts(station, received, *envelope, octets).empty())) {
    ++refused_;
    return std::nullopt;
  }
  return envelope->message;
}

}  // namespace isochron
