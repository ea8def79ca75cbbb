#pragma once
// Signatures by ECDSA on NIST P-256, from OpenSSL: an optional part of the build (cmake/IsochronParts.cmake).
//
// Promises: a signature follows from key and text alone (RFC 6979), so that runs that sign repeat.
// Requires: the part "OpenSSL"; without it every call here throws InputError with what to install.
// Threads:  any.

#include <array>
#include <optional>
#include <string_view>

#include "v2x/security/certificate.hpp"

namespace isochron::v2x {

using Sha256 = std::array<std::uint8_t, 32>;
using SecretKey = std::array<std::uint8_t, 32>;

[[nodiscard]] Sha256 sha256(OctetView octets);
/// Hash of both hashes, as IEEE 1609.2 ties what is signed to who signs.
[[nodiscard]] Sha256 joined_hash(const Sha256& what, const Sha256& signer);
/// What a certificate is called by.
[[nodiscard]] Digest8 digest_of(const Certificate& certificate);

/// A key that follows from a text.
[[nodiscard]] SecretKey secret_from(std::string_view text);
/// Compressed.
[[nodiscard]] CurvePoint public_key(const SecretKey& secret);
[[nodiscard]] Signature sign(const SecretKey& secret, const Sha256& hash);
/// False also for what is no key or no signature of this curve.
[[nodiscard]] bool verify(const CurvePoint& key, const Sha256& hash, const Signature& signature);

}  // namespace isochron::v2x
