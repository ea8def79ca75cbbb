#pragma once
// Whom one believes. A trust has certificates that its owner vouches for, those that messages brought along, and a list
// of revoked ones; it says of a signed message whether to believe it, or why not.
//
// Promises: believed is only what was signed, with ECDSA on NIST P-256 and SHA-256, by the key of a certificate that a
//           trusted one has signed, that is valid at the message's own time, permits its application (PSID), and is not
//           revoked.
// Requires: the part "OpenSSL" (p256.hpp).
// Threads:  owner thread.

#include <map>
#include <set>
#include <string>

#include "v2x/security/envelope.hpp"
#include "v2x/security/p256.hpp"

namespace isochron::v2x {

class Trust {
 public:
  /// Of the user: believed without asking who signed it.
  void vouch_for(const Certificate& certificate);
  void revoke(const Digest8& digest) { revoked_.insert(digest); }
  [[nodiscard]] bool empty() const { return vouched_.empty(); }

  /// "" = believed; otherwise why not: "is not signed". A certificate that came along is kept if it is good.
  [[nodiscard]] std::string doubts(const Envelope& envelope);

 private:
  [[nodiscard]] std::string doubts_about(const Certificate& certificate) const;
  const Certificate* signer_of(const SignedPart& part, std::string& why);

  std::map<Digest8, Certificate> vouched_, learned_;
  std::set<Digest8> revoked_;
};

/// Somebody who signs: a key with its certificate.
struct Credentials {
  SecretKey secret{};
  Bytes certificate;
  Digest8 digest{};
};
/// An authority: certificates of its own.
[[nodiscard]] Credentials make_authority(std::string_view seed, const std::string& name, std::uint32_t valid_from_s);
/// A certificate for these applications, signed by an authority, for so many hours.
[[nodiscard]] Credentials make_credentials(const Credentials& authority, std::string_view seed, const std::string& name,
                                           std::uint32_t valid_from_s, std::uint16_t hours,
                                           std::vector<std::uint64_t> psids);
/// The message in an envelope signed by them, with the certificate or its digest alone.
[[nodiscard]] Bytes signed_message(const Credentials& by, const EnvelopeDraft& draft, bool with_certificate);

}  // namespace isochron::v2x
