#include "v2x/security/trust.hpp"

#include <algorithm>

#include "core/ensure.hpp"

namespace isochron::v2x {
namespace {

constexpr std::size_t most_learned = 10'000;  // strangers' certificates do not fill the memory

bool valid_at(const Certificate& c, double s) { return s >= c.valid_from_s && s <= c.valid_from_s + c.valid_for_s; }

Sha256 nobody() { return sha256({}); }  // who signs itself

Credentials credentials(const CertificateDraft& draft, const SecretKey& own, const SecretKey& issuer,
                        const Sha256& issued_by) {
  const Signature signature = sign(issuer, joined_hash(sha256(encode_to_be_signed(draft)), issued_by));
  Credentials made{own, encode_certificate(draft, signature), {}};
  const auto read = decode_certificate(made.certificate);
  ENSURE(read.ok(), "a certificate of our own cannot be read");
  made.digest = digest_of(*read);
  return made;
}

}  // namespace

Sha256 joined_hash(const Sha256& what, const Sha256& signer) {
  std::array<std::uint8_t, 64> both{};
  std::copy(what.begin(), what.end(), both.begin());
  std::copy(signer.begin(), signer.end(), both.begin() + 32);
  return sha256(both);
}

Digest8 digest_of(const Certificate& certificate) {
  const Sha256 hash = sha256(certificate.canonical);
  Digest8 digest{};
  std::copy(hash.end() - 8, hash.end(), digest.begin());
  return digest;
}

void Trust::vouch_for(const Certificate& certificate) { vouched_[digest_of(certificate)] = certificate; }

std::string Trust::doubts_about(const Certificate& c) const {
  if (!c.issuer) return "its certificate has no issuer that is known";
  const auto issuer = vouched_.find(*c.issuer);
  if (issuer == vouched_.end()) return "nobody trusted has signed its certificate: issuer " + to_hex(*c.issuer);
  const Certificate& authority = issuer->second;
  if (!authority.issues) return "its certificate is signed by one that may not sign any";
  if (c.implicit) return "its certificate is implicit, and only explicit ones are verified";
  if (!c.signature || !authority.key) return "its certificate is not signed";
  const Sha256 hash = joined_hash(sha256(c.to_be_signed), sha256(authority.canonical));
  if (authority.key_kind != CurveKind::nist_p256 || !verify(*authority.key, hash, *c.signature)) {
    return "its certificate's signature is wrong";
  }
  return "";
}

/// The certificate that a message is signed by; null and why, if there is none to believe.
const Certificate* Trust::signer_of(const SignedPart& part, std::string& why) {
  const Certificate* known = nullptr;
  const auto find = [&](const Digest8& digest) {
    if (const auto found = vouched_.find(digest); found != vouched_.end()) known = &found->second;
    if (const auto found = learned_.find(digest); found != learned_.end()) known = &found->second;
    return known;
  };
  if (part.signer == SignerKind::digest) {
    if (find(part.digest) == nullptr) why = "its certificate " + to_hex(part.digest) + " is not known";
    return known;
  }
  if (part.signer != SignerKind::certificate || part.certificates.empty()) {
    return why = "is signed by no certificate", nullptr;
  }
  const Certificate& own = part.certificates.front();
  const Digest8 digest = digest_of(own);
  if (find(digest) != nullptr) return known;
  if (why = doubts_about(own); !why.empty()) return nullptr;
  if (learned_.size() >= most_learned) learned_.clear();
  return &(learned_[digest] = own);
}

std::string Trust::doubts(const Envelope& envelope) {
  if (!envelope.signed_part) return "is not signed";
  const SignedPart& part = *envelope.signed_part;
  if (part.hash != 0) return "is hashed by another rule than SHA-256";
  std::string why;
  const Certificate* const signer = signer_of(part, why);
  if (signer == nullptr) return why;
  if (revoked_.contains(digest_of(*signer))) return "its certificate is revoked";
  if (!part.header.generation_us) return "does not say when it was signed";
  if (!valid_at(*signer, static_cast<double>(*part.header.generation_us) / 1e6)) {
    return "was signed when its certificate was not valid";
  }
  if (!signer->permits(part.header.psid)) {
    return "its certificate is not for messages of PSID " + std::to_string(part.header.psid);
  }
  if (!signer->key || signer->implicit || signer->key_kind != CurveKind::nist_p256) {
    return "its key is of a kind that is not verified here";
  }
  const Sha256 hash = joined_hash(sha256(part.to_be_signed), sha256(signer->canonical));
  return verify(*signer->key, hash, part.signature) ? "" : "its signature is wrong";
}

Credentials make_authority(std::string_view seed, const std::string& name, std::uint32_t valid_from_s) {
  CertificateDraft draft;
  draft.name = name;
  draft.valid_from_s = valid_from_s;
  draft.valid_for_hours = 65'535;
  draft.issues = true;
  const SecretKey secret = secret_from(std::string(seed) + "/authority");
  draft.key = public_key(secret);
  return credentials(draft, secret, secret, nobody());
}

Credentials make_credentials(const Credentials& authority, std::string_view seed, const std::string& name,
                             std::uint32_t valid_from_s, std::uint16_t hours, std::vector<std::uint64_t> psids) {
  CertificateDraft draft;
  draft.issuer = authority.digest;
  draft.name = name;
  draft.valid_from_s = valid_from_s;
  draft.valid_for_hours = hours;
  draft.psids = std::move(psids);
  const SecretKey secret = secret_from(std::string(seed) + "/" + name);
  draft.key = public_key(secret);
  return credentials(draft, secret, authority.secret, sha256(authority.certificate));
}

Bytes signed_message(const Credentials& by, const EnvelopeDraft& draft, bool with_certificate) {
  const Bytes tbs = encode_to_be_signed(draft);
  const Signature signature = sign(by.secret, joined_hash(sha256(tbs), sha256(by.certificate)));
  return seal_envelope(tbs, by.digest, with_certificate ? OctetView(by.certificate) : OctetView(), signature);
}

}  // namespace isochron::v2x
