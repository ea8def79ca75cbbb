#pragma once
// The envelope of IEEE 1609.2 around a message: unsecured, or signed with what it is for (PSID), when and where it was
// signed, and by whom. What is encrypted stays closed.
//
// Promises: `to_be_signed` is what the signature was made over, as it came.
// Threads:  any; no state.
// Fails:    an error names the field and says what is wrong; nothing is thrown.

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "v2x/security/certificate.hpp"

namespace isochron::v2x {

/// Microseconds since the beginning of 2004, leap seconds counted (Time64), as UTC: "2024-05-01T12:00:00.250000Z".
[[nodiscard]] std::string utc_of_time64(std::uint64_t us);
/// The Time64 of nanoseconds since 1970, UTC.
[[nodiscard]] std::uint64_t time64_of_unix_ns(std::int64_t unix_ns);

struct SignedLocation {
  double latitude_deg = 0, longitude_deg = 0, elevation_m = 0;
};

struct SignedHeader {
  std::uint64_t psid = 0;
  std::optional<std::uint64_t> generation_us;  // Time64
  std::optional<std::uint64_t> expiry_us;
  std::optional<SignedLocation> location;
  std::optional<std::array<std::uint8_t, 3>> asks_for_certificate;  // by the end of its hash
  std::size_t extensions = 0;                                       // of later editions
};

enum class SignerKind : std::uint8_t { digest, certificate, self, other };

struct SignedPart {
  unsigned hash = 0;  // 0 = SHA-256
  SignedHeader header;
  SignerKind signer = SignerKind::digest;
  Digest8 digest{};                       // of its certificate
  std::vector<Certificate> certificates;  // the first is its own
  Signature signature;
  Bytes to_be_signed;
};

struct Envelope {
  enum class Content : std::uint8_t { unsecured, signed_data, encrypted, certificate_request, x509_request };
  Content content = Content::unsecured;
  Bytes message;                          // what is inside; of what cannot be opened its octets as they came
  std::optional<SignedPart> signed_part;  // of signed_data
};

/// Whether octets are an envelope (version 3) and no bare message. No J2735 message begins like one.
[[nodiscard]] bool is_envelope(OctetView octets);
[[nodiscard]] Result<Envelope, CodecError> open_envelope(OctetView octets);
/// The message inside, signed or not, or the octets themselves where they are none; nothing is verified.
[[nodiscard]] OctetView message_inside(OctetView octets);

/// PSID of a J2735 message by its number, as IEEE 1609.12 assigns them; nothing for those that have none known here.
[[nodiscard]] std::optional<std::uint64_t> psid_of(int message_id);
/// "BSM", …; "" if unknown here.
[[nodiscard]] std::string_view psid_name(std::uint64_t psid);

struct EnvelopeDraft {
  OctetView message;
  std::uint64_t psid = 0;
  std::uint64_t generation_us = 0;
};
/// What is to be signed, and the envelope with its signature. `certificate`: given along; else only its digest is.
[[nodiscard]] Bytes encode_to_be_signed(const EnvelopeDraft& draft);
[[nodiscard]] Bytes seal_envelope(OctetView to_be_signed, const Digest8& digest, OctetView certificate,
                                  const Signature& signature);

/// As `isochron v2x decode` shows it, without the message inside.
[[nodiscard]] std::string to_json(const Envelope& envelope, int indent = 2);

}  // namespace isochron::v2x
