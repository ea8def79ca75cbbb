#include "v2x/security/certificate.hpp"

#include <algorithm>

#include "core/foreign_text.hpp"

namespace isochron::v2x {
namespace {

template <std::size_t n>
bool read_array(OerReader& in, std::array<std::uint8_t, n>& v) {
  OctetView octets;
  if (!in.octets(n, octets)) return false;
  std::copy(octets.begin(), octets.end(), v.begin());
  return true;
}

/// Degrees of a whole number of 1e-7 of them in four octets.
bool read_degrees(OerReader& in, double& v) {
  std::uint32_t bits = 0;
  if (!in.number(4, bits)) return false;
  v = static_cast<double>(static_cast<std::int32_t>(bits)) * 1e-7;
  return true;
}
bool read_corner(OerReader& in, GeoRegion& region) {
  GeoRegion::Corner corner{};
  if (!read_degrees(in, corner.latitude_deg) || !read_degrees(in, corner.longitude_deg)) return false;
  region.corners.push_back(corner);
  return true;
}

bool read_country(OerReader& in, GeoRegion& region) {
  unsigned kind = 0;
  std::uint64_t ignored = 0;
  int& country = region.countries.emplace_back();
  OctetView octets;
  if (!in.tag(kind)) return false;
  if (kind > 2) return in.text(octets);  // of a later edition
  if (!in.number(2, country)) return false;
  if (kind == 0) return true;
  return in.list([&](std::size_t) {
    if (!in.number(1, ignored)) return false;
    return kind == 1 || in.list([&](std::size_t) { return in.number(2, ignored); });
  });
}

bool read_region(OerReader& in, GeoRegion& region) {
  unsigned kind = 0;
  OctetView octets;
  if (!in.tag(kind)) return false;
  region.kind = static_cast<GeoRegion::Kind>(std::min(kind, 4U));
  switch (region.kind) {
    case GeoRegion::Kind::circle:
      return read_corner(in, region) && in.number(2, region.radius_m);
    case GeoRegion::Kind::rectangles:
      return in.list([&](std::size_t) { return read_corner(in, region) && read_corner(in, region); });
    case GeoRegion::Kind::polygon:
      return in.list([&](std::size_t) { return read_corner(in, region); });
    case GeoRegion::Kind::countries:
      return in.list([&](std::size_t) { return read_country(in, region); });
    case GeoRegion::Kind::other:
      break;
  }
  return in.text(octets);
}

bool read_id(OerReader& in, Certificate& c) {
  unsigned kind = 0;
  OctetView octets;
  OerPreamble there;
  if (!in.tag(kind)) return false;
  switch (kind) {
    case 0:  // linkage
      return in.preamble(1, false, there) && in.octets(11, octets) && (!there.has(0) || in.octets(13, octets));
    case 1:
      if (!in.text(octets)) return false;
      c.name = foreign_name({reinterpret_cast<const char*>(octets.data()), octets.size()});
      return true;
    case 2:
      if (!in.text(octets)) return false;
      c.name = to_hex(octets);
      return true;
    case 3:
      return true;
    default:
      return in.text(octets);
  }
}

bool read_issuer(OerReader& in, Certificate& c) {
  unsigned kind = 0, hash = 0;
  OctetView octets;
  if (!in.tag(kind)) return false;
  if (kind == 0) return read_array(in, c.issuer.emplace());
  if (kind == 1) return c.self_issued = true, in.enumerated(hash);
  return in.text(octets);  // by another hash: an issuer that is not known here
}

bool read_validity(OerReader& in, Certificate& c) {
  constexpr double units_s[] = {1e-6, 1e-3, 1, 60, 3600, 60 * 3600, 31556952};
  unsigned unit = 0;
  std::uint64_t count = 0;
  if (!in.number(4, c.valid_from_s) || !in.tag(unit)) return false;
  if (unit > 6) return in.fail("a unit of time beyond all editions");
  if (!in.number(2, count)) return false;
  c.valid_for_s = static_cast<double>(count) * units_s[unit];
  return true;
}

bool read_ssp(OerReader& in, Bytes& ssp) {
  unsigned kind = 0;
  OctetView octets;
  if (!in.tag(kind) || !in.text(octets)) return false;
  if (kind == 1 && octets.size() > 1) octets = octets.subspan(1);  // a bitmap stands in octets of its own
  ssp.assign(octets.begin(), octets.end());
  return true;
}

bool read_applications(OerReader& in, Certificate& c) {
  c.applications_told = true;
  return in.list([&](std::size_t) {
    Permission& permission = c.applications.emplace_back();
    OerPreamble there;
    return in.preamble(1, false, there) && in.any_number(permission.psid) &&
           (!there.has(0) || read_ssp(in, permission.ssp) || in.in("ssp"));
  });
}

bool skip_ssp_range(OerReader& in) {
  unsigned kind = 0;
  OctetView octets;
  if (!in.tag(kind)) return false;
  if (kind == 0) return in.list([&](std::size_t) { return in.text(octets); });
  return kind == 1 || in.text(octets);
}

/// What certificates it may issue, or ask for: read over.
bool skip_group_permissions(OerReader& in) {
  return in.list([&](std::size_t) {
    OerPreamble there, one;
    unsigned kind = 0;
    OctetView octets;
    std::uint64_t psid = 0;
    if (!in.preamble(3, false, there) || !in.tag(kind)) return false;
    if (kind == 0) {
      const bool read = in.list([&](std::size_t) {
        return in.preamble(1, false, one) && in.any_number(psid) && (!one.has(0) || skip_ssp_range(in));
      });
      if (!read) return false;
    } else if (kind > 1 && !in.text(octets)) {
      return false;
    }
    return (!there.has(0) || in.text(octets)) && (!there.has(1) || in.text(octets)) &&
           (!there.has(2) || in.octets(1, octets));
  });
}

/// `at`: where the key's point begins.
bool read_key(OerReader& in, Certificate& c, std::size_t& at) {
  unsigned indicator = 0, curve = 0;
  OctetView octets;
  if (!in.tag(indicator)) return false;
  if (indicator > 1) return in.text(octets);
  if (indicator == 0) {
    if (!in.tag(curve)) return false;
    c.key_kind = static_cast<CurveKind>(std::min(curve, 2U));
    if (c.key_kind == CurveKind::other) return in.text(octets);
  }
  at = in.position();
  return read_point(in, c.key.emplace());
}

bool read_to_be_signed(OerReader& in, Certificate& c, std::size_t& key_at) {
  OerPreamble there;
  OctetView octets;
  if (!in.preamble(7, true, there)) return false;
  if (!read_id(in, c)) return in.in("id");
  if (!read_array(in, c.craca)) return in.in("cracaId");
  if (!in.number(2, c.crl_series)) return in.in("crlSeries");
  if (!read_validity(in, c)) return in.in("validityPeriod");
  if (there.has(0) && !read_region(in, c.region.emplace())) return in.in("region");
  if (there.has(1) && !in.octets(1, octets)) return in.in("assuranceLevel");
  if (there.has(2) && !read_applications(in, c)) return in.in("appPermissions");
  c.issues = there.has(3);
  if (there.has(3) && !skip_group_permissions(in)) return in.in("certIssuePermissions");
  if (there.has(4) && !skip_group_permissions(in)) return in.in("certRequestPermissions");
  if (there.has(6) && !skip_encryption_key(in)) return in.in("encryptionKey");
  if (!read_key(in, c, key_at)) return in.in("verifyKeyIndicator");
  return !there.extended || in.extensions([](std::size_t, OctetView) { return true; });
}

/// The octets with those points in their short form that begin there: a key, and the first half of a signature.
Bytes shortened(OctetView octets, std::optional<std::size_t> key, std::optional<std::size_t> r) {
  constexpr std::size_t short_point = 33, long_point = 65;
  Bytes all;
  for (std::size_t i = 0; i < octets.size();) {
    const bool is_long = octets[i] == 0x84;
    const bool is_key = key == i && is_long, is_r = r == i && octets[i] >= 0x82;
    if (!is_key && !is_r) {
      all.push_back(octets[i++]);
      continue;
    }
    const std::size_t size = is_long ? long_point : short_point;
    all.push_back(is_r ? 0x80 : static_cast<std::uint8_t>(0x82 | (octets[i + size - 1] & 1)));
    for (const std::uint8_t x : octets.subspan(i + 1, short_point - 1)) all.push_back(x);
    i += size;
  }
  return all;
}

}  // namespace

bool Certificate::permits(std::uint64_t psid) const {
  return std::ranges::any_of(applications, [&](const Permission& p) { return p.psid == psid; });
}

bool read_point(OerReader& in, CurvePoint& point) {
  unsigned form = 0;
  if (!in.tag(form)) return false;
  if (form > 4) return in.fail("a form of a point beyond all editions");
  point.form = static_cast<CurvePoint::Form>(form);
  if (point.form == CurvePoint::Form::fill) return true;
  return read_array(in, point.x) && (point.form != CurvePoint::Form::uncompressed || read_array(in, point.y));
}

bool read_signature(OerReader& in, Signature& signature) {
  unsigned kind = 0;
  OctetView octets;
  if (!in.tag(kind)) return false;
  signature.kind = static_cast<CurveKind>(std::min(kind, 2U));
  if (signature.kind == CurveKind::other) return in.text(octets);
  return (read_point(in, signature.r) || in.in("rSig")) && (read_array(in, signature.s) || in.in("sSig"));
}

bool skip_encryption_key(OerReader& in) {
  unsigned algorithm = 0, curve = 0;
  OctetView octets;
  CurvePoint point;
  if (!in.enumerated(algorithm) || !in.tag(curve)) return false;
  return curve > 1 ? in.text(octets) : read_point(in, point);
}

bool read_certificate(OerReader& in, Certificate& c) {
  const std::size_t begin = in.position();
  OerPreamble there;
  std::uint64_t version = 0;
  unsigned type = 0;
  if (!in.preamble(1, false, there)) return false;
  if (!in.number(1, version)) return in.in("version");
  if (version != 3) return in.fail("version " + std::to_string(version) + ", and only 3 is known"), in.in("version");
  if (!in.enumerated(type)) return in.in("type");
  if (type > 1) return in.fail("a type beyond all editions"), in.in("type");
  c.implicit = type == 1;
  if (!read_issuer(in, c)) return in.in("issuer");
  const std::size_t body = in.position();
  std::size_t key_at = 0;
  if (!read_to_be_signed(in, c, key_at)) return in.in("toBeSigned");
  const OctetView signed_part = in.since(body);
  const std::size_t sealed = in.position();
  if (there.has(0) && !read_signature(in, c.signature.emplace())) return in.in("signature");
  std::optional<std::size_t> key, key_in_part, r;
  if (c.key) {
    key = key_at - begin;
    key_in_part = key_at - body;
  }
  if (c.signature && c.signature->kind != CurveKind::other) r = sealed + 1 - begin;
  c.canonical = shortened(in.since(begin), key, r);
  c.to_be_signed = shortened(signed_part, key_in_part, std::nullopt);
  return true;
}

Result<Certificate, CodecError> decode_certificate(OctetView octets) {
  OerReader in(octets);
  Certificate certificate;
  if (!read_certificate(in, certificate)) return in.in("certificate"), fail(in.error());
  if (in.left() > 0) return fail(CodecError{"certificate", std::to_string(in.left()) + " octets follow it", 0});
  return certificate;
}

void write_point(OerWriter& out, const CurvePoint& point) {
  out.tag(static_cast<unsigned>(point.form));
  if (point.form != CurvePoint::Form::fill) out.octets(point.x);
  if (point.form == CurvePoint::Form::uncompressed) out.octets(point.y);
}

void write_signature(OerWriter& out, const Signature& signature) {
  out.tag(static_cast<unsigned>(signature.kind));
  write_point(out, signature.r);
  out.octets(signature.s);
}

Bytes encode_to_be_signed(const CertificateDraft& draft) {
  constexpr unsigned applications = 1U << 4, issue_permissions = 1U << 3;  // of the preamble
  OerWriter out;
  out.number(1, (draft.psids.empty() ? 0 : applications) | (draft.issues ? issue_permissions : 0));
  out.tag(draft.name.empty() ? 3 : 1);
  if (!draft.name.empty()) out.text({reinterpret_cast<const std::uint8_t*>(draft.name.data()), draft.name.size()});
  out.number(3, 0);  // no revocation lists are told of
  out.number(2, 0);
  out.number(4, draft.valid_from_s);
  out.tag(4);
  out.number(2, draft.valid_for_hours);
  if (!draft.psids.empty()) {
    out.any_number(draft.psids.size());
    for (const std::uint64_t psid : draft.psids) {
      out.number(1, 0);
      out.any_number(psid);
    }
  }
  if (draft.issues) {  // one entry: all applications
    out.any_number(1);
    out.number(1, 0);
    out.tag(1);
  }
  out.tag(0);  // a key,
  out.tag(0);  // of NIST P-256
  write_point(out, draft.key);
  return out.take();
}

Bytes encode_certificate(const CertificateDraft& draft, const Signature& signature) {
  OerWriter out;
  out.number(1, 0x80);  // with a signature
  out.number(1, 3);
  out.number(1, 0);  // explicit
  out.tag(draft.issuer ? 0 : 1);
  if (draft.issuer) {
    out.octets(*draft.issuer);
  } else {
    out.number(1, 0);  // by SHA-256
  }
  out.octets(encode_to_be_signed(draft));
  write_signature(out, signature);
  return out.take();
}

}  // namespace isochron::v2x
