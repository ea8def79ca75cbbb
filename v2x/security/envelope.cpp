#include "v2x/security/envelope.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/foreign_text.hpp"

namespace isochron::v2x {
namespace {

constexpr std::int64_t second_us = 1'000'000;
constexpr std::int64_t unix_of_2004_s = 1'072'915'200;
/// Unix seconds from which on one more leap second had passed since 2004.
constexpr std::array<std::int64_t, 5> leaps_s{1'136'073'600, 1'230'768'000, 1'341'100'800, 1'435'708'800,
                                              1'483'228'800};

struct Use {
  std::uint64_t psid;
  int message_id;
  const char* name;
};
constexpr std::array uses{Use{0x20, id_bsm, "BSM"},     Use{0x27, id_psm, "PSM"},    Use{0x80, id_rtcm, "RTCM"},
                          Use{0x82, id_spat, "SPAT"},   Use{0x83, id_tim, "TIM"},    Use{0x204097, id_map, "MAP"},
                          Use{0x204096, id_srm, "SRM"}, Use{0x204095, id_ssm, "SSM"}};

bool read_location(OerReader& in, SignedLocation& v) {
  std::uint32_t latitude = 0, longitude = 0, elevation = 0;
  if (!in.number(4, latitude) || !in.number(4, longitude) || !in.number(2, elevation)) return false;
  v.latitude_deg = static_cast<double>(static_cast<std::int32_t>(latitude)) * 1e-7;
  v.longitude_deg = static_cast<double>(static_cast<std::int32_t>(longitude)) * 1e-7;
  v.elevation_m = static_cast<double>(elevation) / 10 - 409.6;
  return true;
}

bool skip_header_key(OerReader& in) {
  unsigned kind = 0, cipher = 0;
  OctetView octets;
  if (!in.tag(kind)) return false;
  if (kind == 0) return skip_encryption_key(in);
  if (kind > 1) return in.fail("a kind of key beyond all editions");
  if (!in.tag(cipher)) return false;
  return cipher == 0 ? in.octets(16, octets) : in.text(octets);
}

bool read_header(OerReader& in, SignedHeader& v) {
  OerPreamble there, of_list;
  OctetView octets;
  if (!in.preamble(6, true, there)) return false;
  if (!in.any_number(v.psid)) return in.in("psid");
  if (there.has(0) && !in.number(8, v.generation_us.emplace())) return in.in("generationTime");
  if (there.has(1) && !in.number(8, v.expiry_us.emplace())) return in.in("expiryTime");
  if (there.has(2) && !read_location(in, v.location.emplace())) return in.in("generationLocation");
  if (there.has(3)) {
    if (!in.octets(3, octets)) return in.in("p2pcdLearningRequest");
    std::copy(octets.begin(), octets.end(), v.asks_for_certificate.emplace().begin());
  }
  if (there.has(4)) {
    const bool read = in.preamble(0, true, of_list) && in.octets(5, octets) &&
                      (!of_list.extended || in.extensions([](std::size_t, OctetView) { return true; }));
    if (!read) return in.in("missingCrlIdentifier");
  }
  if (there.has(5) && !skip_header_key(in)) return in.in("encryptionKey");
  return !there.extended || in.extensions([&](std::size_t, OctetView) { return ++v.extensions, true; });
}

bool read_payload(OerReader& in, Bytes& message) {
  OerPreamble there;
  std::uint64_t version = 0;
  unsigned content = 0, hash = 0;
  OctetView octets;
  if (!in.preamble(2, true, there)) return false;
  if (there.has(0)) {
    if (!in.number(1, version) || !in.tag(content)) return in.in("data");
    if (version != 3 || content != 0)
      return in.fail("what is signed is itself in an envelope that is not open"), in.in("data");
    if (!in.text(octets)) return in.in("data");
    message.assign(octets.begin(), octets.end());
  }
  if (there.has(1)) {
    if (!in.tag(hash) || !(hash == 0 ? in.octets(32, octets) : in.text(octets))) return in.in("extDataHash");
  }
  return !there.extended || in.extensions([](std::size_t, OctetView) { return true; });
}

bool read_signer(OerReader& in, SignedPart& part) {
  unsigned kind = 0;
  OctetView octets;
  if (!in.tag(kind)) return false;
  part.signer = static_cast<SignerKind>(std::min(kind, 3U));
  switch (part.signer) {
    case SignerKind::digest:
      if (!in.octets(8, octets)) return in.in("digest");
      std::copy(octets.begin(), octets.end(), part.digest.begin());
      return true;
    case SignerKind::certificate:
      return in.list([&](std::size_t) { return read_certificate(in, part.certificates.emplace_back()); }) ||
             in.in("certificate");
    case SignerKind::self:
      return true;
    case SignerKind::other:
      break;
  }
  return in.text(octets);
}

bool read_signed(OerReader& in, Envelope& envelope) {
  SignedPart& part = envelope.signed_part.emplace();
  if (!in.enumerated(part.hash)) return in.in("hashId");
  const std::size_t begin = in.position();
  if (!read_payload(in, envelope.message)) return in.in("payload"), in.in("tbsData");
  if (!read_header(in, part.header)) return in.in("headerInfo"), in.in("tbsData");
  const OctetView tbs = in.since(begin);
  part.to_be_signed.assign(tbs.begin(), tbs.end());
  if (!read_signer(in, part)) return in.in("signer");
  return read_signature(in, part.signature) || in.in("signature");
}

bool read_envelope(OerReader& in, Envelope& envelope) {
  std::uint64_t version = 0;
  unsigned content = 0;
  OctetView octets;
  if (!in.number(1, version)) return in.in("protocolVersion");
  if (version != 3)
    return in.fail("version " + std::to_string(version) + ", and only 3 is known"), in.in("protocolVersion");
  if (!in.tag(content)) return in.in("content");
  if (content > 4) return in.fail("an alternative beyond all editions"), in.in("content");
  envelope.content = static_cast<Envelope::Content>(content);
  if (envelope.content == Envelope::Content::signed_data) return read_signed(in, envelope) || in.in("signedData");
  const bool has_length = envelope.content != Envelope::Content::encrypted;
  if (!(has_length ? in.text(octets) : in.octets(in.left(), octets))) return in.in("content");
  envelope.message.assign(octets.begin(), octets.end());
  return true;
}

using Json = nlohmann::ordered_json;

template <std::size_t n>
std::string hex(const std::array<std::uint8_t, n>& octets) {
  return to_hex(octets);
}

/// A text of somebody else's, which may be no UTF-8.
Json region_json(const GeoRegion& region) {
  Json json = Json::object();
  Json corners = Json::array();
  for (const auto& corner : region.corners) {
    corners.push_back({{"lat_deg", corner.latitude_deg}, {"long_deg", corner.longitude_deg}});
  }
  switch (region.kind) {
    case GeoRegion::Kind::circle:
      return {{"center", corners[0]}, {"radius_m", region.radius_m}};
    case GeoRegion::Kind::rectangles:
      return {{"rectangles", corners}};
    case GeoRegion::Kind::polygon:
      return {{"polygon", corners}};
    case GeoRegion::Kind::countries:
      return {{"countries", region.countries}};
    case GeoRegion::Kind::other:
      break;
  }
  return "of a kind that is not known here";
}

Json psid_json(std::uint64_t psid) {
  Json json{{"psid", psid}};
  if (const auto name = psid_name(psid); !name.empty()) json["for"] = name;
  return json;
}

Json certificate_json(const Certificate& c) {
  Json json{{"type", c.implicit ? "implicit" : "explicit"}};
  json["issuer"] = c.self_issued ? "self" : c.issuer ? hex(*c.issuer) : "of a kind that is not known here";
  if (!c.name.empty()) json["id"] = c.name;
  const std::uint64_t from_us = std::uint64_t{c.valid_from_s} * second_us;
  json["valid_from"] = utc_of_time64(from_us);
  json["valid_for_s"] = c.valid_for_s;
  if (c.region) json["region"] = region_json(*c.region);
  Json applications = Json::array();
  for (const Permission& p : c.applications) {
    Json one = psid_json(p.psid);
    if (!p.ssp.empty()) one["ssp"] = to_hex(p.ssp);
    applications.push_back(one);
  }
  if (c.applications_told) json["appPermissions"] = applications;
  if (c.issues) json["issues_certificates"] = true;
  return json;
}

Json signer_json(const SignedPart& part) {
  switch (part.signer) {
    case SignerKind::digest:
      return {{"digest", hex(part.digest)}};
    case SignerKind::certificate: {
      Json all = Json::array();
      for (const Certificate& c : part.certificates) all.push_back(certificate_json(c));
      return {{"certificate", all}};
    }
    case SignerKind::self:
      return "self";
    case SignerKind::other:
      break;
  }
  return "of a kind that is not known here";
}

Json header_json(const SignedHeader& header) {
  Json json = psid_json(header.psid);
  if (header.generation_us) json["generationTime"] = utc_of_time64(*header.generation_us);
  if (header.expiry_us) json["expiryTime"] = utc_of_time64(*header.expiry_us);
  if (header.location) {
    json["generationLocation"] = {{"lat_deg", header.location->latitude_deg},
                                  {"long_deg", header.location->longitude_deg},
                                  {"elevation_m", header.location->elevation_m}};
  }
  if (header.asks_for_certificate) json["p2pcdLearningRequest"] = hex(*header.asks_for_certificate);
  if (header.extensions > 0) json["extensions_not_known_here"] = header.extensions;
  return json;
}

}  // namespace

std::string utc_of_time64(std::uint64_t us) {
  if (us > 1ULL << 60) return "beyond all calendars";
  const auto counted = static_cast<std::int64_t>(us / second_us);
  std::int64_t leaps = 0;
  for (const std::int64_t leap : leaps_s) leaps += counted + unix_of_2004_s > leap + leaps ? 1 : 0;
  const auto unix_s = std::chrono::sys_seconds(std::chrono::seconds(counted + unix_of_2004_s - leaps));
  const auto day = std::chrono::floor<std::chrono::days>(unix_s);
  const std::chrono::year_month_day date(day);
  const std::int64_t s = (unix_s - day).count();
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), static_cast<int>(s / 3600),
                static_cast<int>(s / 60 % 60), static_cast<int>(s % 60), static_cast<int>(us % second_us));
  return text;
}

std::uint64_t time64_of_unix_ns(std::int64_t unix_ns) {
  const std::int64_t unix_us = unix_ns / 1000;
  std::int64_t leaps = 0;
  for (const std::int64_t leap : leaps_s) leaps += unix_us >= leap * second_us ? 1 : 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, unix_us + (leaps - unix_of_2004_s) * second_us));
}

bool is_envelope(OctetView octets) {
  return octets.size() >= 2 && octets[0] == 3 && octets[1] >= 0x80 && octets[1] <= 0x84;
}

Result<Envelope, CodecError> open_envelope(OctetView octets) {
  OerReader in(octets);
  Envelope envelope;
  if (!read_envelope(in, envelope)) return in.in("Ieee1609Dot2Data"), fail(in.error());
  return envelope;
}

OctetView message_inside(OctetView octets) {
  if (!is_envelope(octets)) return octets;
  OerReader in(octets.subspan(1));
  OerPreamble there;
  unsigned content = 0, hash = 0;
  std::uint64_t version = 0;
  OctetView message;
  if (!in.tag(content) || content > 1) return octets;
  if (content == 1) {
    const bool told = in.enumerated(hash) && in.preamble(2, true, there) && there.has(0) && in.number(1, version) &&
                      version == 3 && in.tag(content) && content == 0;
    if (!told) return octets;
  }
  return in.text(message) ? message : octets;
}

std::optional<std::uint64_t> psid_of(int message_id) {
  const auto* const found = std::ranges::find(uses, message_id, &Use::message_id);
  return found == uses.end() ? std::nullopt : std::optional(found->psid);
}

std::string_view psid_name(std::uint64_t psid) {
  const auto* const found = std::ranges::find(uses, psid, &Use::psid);
  return found == uses.end() ? "" : found->name;
}

Bytes encode_to_be_signed(const EnvelopeDraft& draft) {
  OerWriter out;
  out.number(1, 0x40);  // the data themselves
  out.number(1, 3);
  out.tag(0);
  out.text(draft.message);
  out.number(1, 0x40);  // a generation time
  out.any_number(draft.psid);
  out.number(8, draft.generation_us);
  return out.take();
}

Bytes seal_envelope(OctetView to_be_signed, const Digest8& digest, OctetView certificate, const Signature& signature) {
  OerWriter out;
  out.number(1, 3);
  out.tag(1);
  out.number(1, 0);  // by SHA-256
  out.octets(to_be_signed);
  out.tag(certificate.empty() ? 0 : 1);
  if (certificate.empty()) {
    out.octets(digest);
  } else {
    out.any_number(1);
    out.octets(certificate);
  }
  write_signature(out, signature);
  return out.take();
}

std::string to_json(const Envelope& envelope, int indent) {
  constexpr std::array names{"unsecuredData", "signedData", "encryptedData", "signedCertificateRequest",
                             "signedX509CertificateRequest"};
  Json json{{"content", names[static_cast<std::size_t>(envelope.content)]}};
  if (envelope.signed_part) {
    const SignedPart& part = *envelope.signed_part;
    json["header"] = header_json(part.header);
    json["signer"] = signer_json(part);
  } else if (envelope.content != Envelope::Content::unsecured) {
    json["closed"] = to_hex(envelope.message);
  }
  return json_text(json, indent);
}

}  // namespace isochron::v2x
