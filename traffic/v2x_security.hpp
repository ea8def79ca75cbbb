#pragma once
// Signed messages of a scenario (`v2x: {security: …}`): an authority that follows from its seed certifies every station
// for what it has to say; units sign what they send, and take what others sent out of its envelope if they believe it.
//
// Promises: the same scenario gives the same keys, certificates and signatures, in every client. What a station believes
//           depends on what it heard itself, only: who signs by a digest is believed by those who heard its certificate.
// Threads:  owner thread.

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"
#include "v2x/security/trust.hpp"

namespace isochron {

class V2xSecurity {
 public:
  /// A scenario with `v2x: {security: …}`.
  explicit V2xSecurity(const Scenario& scenario);

  /// What goes on the air instead of a station's message; the message itself of one that does not sign, and what is in
  /// an envelope already.
  v2x::Bytes signed_by(const std::string& station, SimTime at, v2x::Bytes message);
  /// The same by somebody whom the scenario does not have, certified for everything that vehicles say.
  v2x::Bytes signed_by_stranger(const std::string& name, SimTime at, v2x::Bytes message);

  /// The message in what a station heard; nothing if it is not to be believed.
  std::optional<v2x::Bytes> believed(const std::string& station, SimTime received,
                                     std::span<const std::uint8_t> octets);
  /// Of the authority first, then of every station that is named, in their order: whole certificates.
  [[nodiscard]] std::vector<v2x::Bytes> certificates(const std::vector<std::string>& stations);
  /// How many were not.
  [[nodiscard]] std::uint32_t refused() const { return refused_; }

 private:
  struct Signer {
    v2x::Credentials credentials;
    bool signs = true;
    SimTime next_certificate = SimTime::zero();
  };
  Signer& signer(const std::string& station, bool vehicle);
  v2x::Bytes sealed(Signer& signer, SimTime at, const v2x::Bytes& message) const;
  [[nodiscard]] std::string doubts(const std::string& station, SimTime received, const v2x::Envelope& envelope,
                                   std::span<const std::uint8_t> octets);
  [[nodiscard]] std::uint64_t time64(SimTime at) const;

  const SecuritySection& section_;
  std::int64_t epoch_ns_;
  std::string seed_;
  std::set<std::string> lights_;
  v2x::Credentials authority_;
  std::map<std::string, Signer> signers_;
  v2x::Trust trust_;                                     // of all stations here,
  std::map<std::string, std::set<v2x::Digest8>> known_;  // and the certificates that each has heard
  std::map<v2x::Sha256, std::string> verified_;          // what was verified lately: many hear the same message
  std::uint32_t refused_ = 0;
};

}  // namespace isochron
