#include "v2x/security/p256.hpp"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/hmac.h>
#include <openssl/obj_mac.h>
#include <openssl/sha.h>

#include <memory>
#include <string>

#include "core/ensure.hpp"

namespace isochron::v2x {
namespace {

template <auto release>
struct Release {
  template <class T>
  void operator()(T* p) const {
    release(p);
  }
};
using Number = std::unique_ptr<BIGNUM, Release<BN_clear_free>>;
using Group = std::unique_ptr<EC_GROUP, Release<EC_GROUP_free>>;
using Point = std::unique_ptr<EC_POINT, Release<EC_POINT_free>>;
using Scratch = std::unique_ptr<BN_CTX, Release<BN_CTX_free>>;

/// OpenSSL fails here only without memory.
void demand(int ok) { ENSURE(ok == 1, "OpenSSL failed where it has no reason to"); }

Number number() {
  Number n(BN_new());
  ENSURE(n != nullptr, "out of memory");
  return n;
}
Number number(OctetView octets) {
  Number n(BN_bin2bn(octets.data(), static_cast<int>(octets.size()), nullptr));
  ENSURE(n != nullptr, "out of memory");
  return n;
}
std::array<std::uint8_t, 32> octets_of(const BIGNUM* n) {
  std::array<std::uint8_t, 32> octets{};
  ENSURE(BN_bn2binpad(n, octets.data(), 32) == 32, "a number of P-256 is longer than it");
  return octets;
}

/// The curve, and room to reckon in: one for each thread.
struct Curve {
  Group group{EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)};
  Scratch scratch{BN_CTX_new()};
  const BIGNUM* order = nullptr;
  Curve() {
    ENSURE(group != nullptr && scratch != nullptr, "OpenSSL has no P-256");
    order = EC_GROUP_get0_order(group.get());
  }
  [[nodiscard]] Point point() const {
    Point p(EC_POINT_new(group.get()));
    ENSURE(p != nullptr, "out of memory");
    return p;
  }
};
Curve& curve() {
  thread_local Curve one;
  return one;
}

bool in_order(const BIGNUM* n) { return !BN_is_zero(n) && BN_cmp(n, curve().order) < 0; }

Sha256 hmac(const Sha256& key, std::initializer_list<OctetView> parts) {
  Bytes text;
  for (const OctetView part : parts) text.insert(text.end(), part.begin(), part.end());
  Sha256 out{};
  unsigned size = 0;
  ENSURE(HMAC(EVP_sha256(), key.data(), 32, text.data(), text.size(), out.data(), &size) != nullptr, "no HMAC");
  return out;
}

/// The numbers that RFC 6979 draws for a signature, one after the other.
class Nonces {
 public:
  Nonces(const SecretKey& secret, const Sha256& hash) {
    Number z = number(hash);
    demand(BN_nnmod(z.get(), z.get(), curve().order, curve().scratch.get()));
    const auto reduced = octets_of(z.get());
    v_.fill(1);
    key_.fill(0);
    for (const std::uint8_t round : {std::uint8_t{0}, std::uint8_t{1}}) {
      key_ = hmac(key_, {v_, OctetView(&round, 1), secret, reduced});
      v_ = hmac(key_, {v_});
    }
  }
  Number next() {
    while (true) {
      v_ = hmac(key_, {v_});
      Number k = number(v_);
      const std::uint8_t zero = 0;
      key_ = hmac(key_, {v_, OctetView(&zero, 1)});  // for the one after it
      v_ = hmac(key_, {v_});
      if (in_order(k.get())) return k;
    }
  }

 private:
  Sha256 key_{}, v_{};
};

/// Null if it is none of the curve.
Point point_of(const CurvePoint& p) {
  Bytes octets;
  switch (p.form) {
    case CurvePoint::Form::compressed_even:
    case CurvePoint::Form::compressed_odd:
      octets.push_back(p.form == CurvePoint::Form::compressed_even ? 2 : 3);
      octets.insert(octets.end(), p.x.begin(), p.x.end());
      break;
    case CurvePoint::Form::uncompressed:
      octets.push_back(4);
      octets.insert(octets.end(), p.x.begin(), p.x.end());
      octets.insert(octets.end(), p.y.begin(), p.y.end());
      break;
    case CurvePoint::Form::x_only:
    case CurvePoint::Form::fill:
      return nullptr;
  }
  Curve& c = curve();
  Point point = c.point();
  if (EC_POINT_oct2point(c.group.get(), point.get(), octets.data(), octets.size(), c.scratch.get()) != 1)
    return nullptr;
  return point;
}

/// k·G's x, modulo the order.
Number x_of_multiple(const BIGNUM* k) {
  Curve& c = curve();
  const Point point = c.point();
  Number x = number();
  demand(EC_POINT_mul(c.group.get(), point.get(), k, nullptr, nullptr, c.scratch.get()));
  demand(EC_POINT_get_affine_coordinates(c.group.get(), point.get(), x.get(), nullptr, c.scratch.get()));
  demand(BN_nnmod(x.get(), x.get(), c.order, c.scratch.get()));
  return x;
}

}  // namespace

Sha256 sha256(OctetView octets) {
  Sha256 out{};
  SHA256(octets.data(), octets.size(), out.data());
  return out;
}

SecretKey secret_from(std::string_view text) {
  Bytes octets(text.begin(), text.end());
  while (true) {
    const Sha256 hash = sha256(octets);
    if (in_order(number(hash).get())) return hash;
    octets.push_back(0);
  }
}

CurvePoint public_key(const SecretKey& secret) {
  Curve& c = curve();
  const Point point = c.point();
  const Number k = number(secret);
  demand(EC_POINT_mul(c.group.get(), point.get(), k.get(), nullptr, nullptr, c.scratch.get()));
  const Number x = number(), y = number();
  demand(EC_POINT_get_affine_coordinates(c.group.get(), point.get(), x.get(), y.get(), c.scratch.get()));
  CurvePoint made;
  made.form = BN_is_odd(y.get()) ? CurvePoint::Form::compressed_odd : CurvePoint::Form::compressed_even;
  made.x = octets_of(x.get());
  return made;
}

Signature sign(const SecretKey& secret, const Sha256& hash) {
  Curve& c = curve();
  const Number d = number(secret), z = number(hash);
  Nonces nonces(secret, hash);
  while (true) {
    const Number k = nonces.next();
    const Number r = x_of_multiple(k.get());
    const Number s = number();
    const Number inverse(BN_mod_inverse(nullptr, k.get(), c.order, c.scratch.get()));
    ENSURE(inverse != nullptr, "no inverse of a number below a prime");
    demand(BN_mod_mul(s.get(), r.get(), d.get(), c.order, c.scratch.get()));
    demand(BN_mod_add(s.get(), s.get(), z.get(), c.order, c.scratch.get()));
    demand(BN_mod_mul(s.get(), s.get(), inverse.get(), c.order, c.scratch.get()));
    if (BN_is_zero(r.get()) || BN_is_zero(s.get())) continue;
    Signature signature;
    signature.r.x = octets_of(r.get());
    signature.s = octets_of(s.get());
    return signature;
  }
}

bool verify(const CurvePoint& key, const Sha256& hash, const Signature& signature) {
  if (signature.kind != CurveKind::nist_p256) return false;
  Curve& c = curve();
  const Point q = point_of(key);
  if (q == nullptr) return false;
  const Number r = number(signature.r.x), s = number(signature.s), z = number(hash);
  demand(BN_nnmod(r.get(), r.get(), c.order, c.scratch.get()));  // it may be given as the point's whole x
  if (!in_order(r.get()) || !in_order(s.get())) return false;
  const Number inverse(BN_mod_inverse(nullptr, s.get(), c.order, c.scratch.get()));
  ENSURE(inverse != nullptr, "no inverse of a number below a prime");
  const Number u1 = number(), u2 = number(), x = number();
  demand(BN_mod_mul(u1.get(), z.get(), inverse.get(), c.order, c.scratch.get()));
  demand(BN_mod_mul(u2.get(), r.get(), inverse.get(), c.order, c.scratch.get()));
  const Point sum = c.point();
  demand(EC_POINT_mul(c.group.get(), sum.get(), u1.get(), q.get(), u2.get(), c.scratch.get()));
  if (EC_POINT_is_at_infinity(c.group.get(), sum.get()) == 1) return false;
  demand(EC_POINT_get_affine_coordinates(c.group.get(), sum.get(), x.get(), nullptr, c.scratch.get()));
  demand(BN_nnmod(x.get(), x.get(), c.order, c.scratch.get()));
  return BN_cmp(x.get(), r.get()) == 0;
}

}  // namespace isochron::v2x
