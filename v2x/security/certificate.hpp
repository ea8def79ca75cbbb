#pragma once
// Certificates of IEEE 1609.2, as far as a receiver of messages needs them: whose they are, until when, for which
// applications, the key that they certify, and who signed them. Everything else is read over.
//
// Promises: `canonical` is what hashes and signatures are made of: points of curves in their short form.
// Threads:  any; no state.
// Fails:    an error names the field and says what is wrong; nothing is thrown.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "v2x/codec/codec.hpp"
#include "v2x/security/oer.hpp"

namespace isochron::v2x {

using Digest8 = std::array<std::uint8_t, 8>;  // the last octets of a SHA-256

/// A point of a curve of 256 bits.
struct CurvePoint {
  enum class Form : std::uint8_t { x_only, fill, compressed_even, compressed_odd, uncompressed };
  Form form = Form::x_only;
  std::array<std::uint8_t, 32> x{}, y{};
};

enum class CurveKind : std::uint8_t { nist_p256, brainpool_p256r1, other };

struct Signature {
  CurveKind kind = CurveKind::nist_p256;
  CurvePoint r;
  std::array<std::uint8_t, 32> s{};
};

struct GeoRegion {
  enum class Kind : std::uint8_t { circle, rectangles, polygon, countries, other };
  Kind kind = Kind::other;
  struct Corner {
    double latitude_deg, longitude_deg;
  };
  std::vector<Corner> corners;  // a circle's centre; two of each rectangle
  double radius_m = 0;
  std::vector<int> countries;
};

struct Permission {
  std::uint64_t psid = 0;
  Bytes ssp;  // what exactly it may say; empty = not told
};

struct Certificate {
  bool implicit = false;          // its key follows from its issuer's
  bool self_issued = false;       // a root
  std::optional<Digest8> issuer;  // of another one, by its hash
  std::string name;               // "" = none told
  std::array<std::uint8_t, 3> craca{};
  int crl_series = 0;
  std::uint32_t valid_from_s = 0;  // since 2004, as Time32
  double valid_for_s = 0;
  std::optional<GeoRegion> region;
  bool applications_told = false;
  std::vector<Permission> applications;
  bool issues = false;            // may sign certificates
  std::optional<CurvePoint> key;  // that it certifies; implicit: from which it follows
  CurveKind key_kind = CurveKind::nist_p256;
  std::optional<Signature> signature;
  Bytes canonical;     // all of it
  Bytes to_be_signed;  // the part that its issuer signed

  [[nodiscard]] bool permits(std::uint64_t psid) const;
};

/// One after the other; the reader stands behind it afterwards.
bool read_certificate(OerReader& in, Certificate& certificate);
/// Octets that are one certificate and nothing else.
[[nodiscard]] Result<Certificate, CodecError> decode_certificate(OctetView octets);

// Parts that envelopes have too.
bool read_point(OerReader& in, CurvePoint& point);
bool read_signature(OerReader& in, Signature& signature);
/// A key for encryption; nobody here encrypts.
bool skip_encryption_key(OerReader& in);
void write_point(OerWriter& out, const CurvePoint& point);
void write_signature(OerWriter& out, const Signature& signature);

/// An explicit certificate for a key of NIST P-256, without its signature: what its issuer signs, and how it goes on.
struct CertificateDraft {
  std::optional<Digest8> issuer;  // nothing: it is a root
  std::string name;
  std::uint32_t valid_from_s = 0;
  std::uint16_t valid_for_hours = 0;
  std::vector<std::uint64_t> psids;
  bool issues = false;
  CurvePoint key;
};
[[nodiscard]] Bytes encode_to_be_signed(const CertificateDraft& draft);
[[nodiscard]] Bytes encode_certificate(const CertificateDraft& draft, const Signature& signature);

}  // namespace isochron::v2x
