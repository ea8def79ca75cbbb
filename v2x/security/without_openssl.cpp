// What stands in for p256.cpp in a build without OpenSSL: scenarios and flags that need it are refused at their place
// before.

#include "core/build_parts.hpp"
#include "v2x/security/p256.hpp"

namespace isochron::v2x {

Sha256 sha256(OctetView) { return need_part("OpenSSL", {}), Sha256{}; }
SecretKey secret_from(std::string_view) { return need_part("OpenSSL", {}), SecretKey{}; }
CurvePoint public_key(const SecretKey&) { return need_part("OpenSSL", {}), CurvePoint{}; }
Signature sign(const SecretKey&, const Sha256&) { return need_part("OpenSSL", {}), Signature{}; }
bool verify(const CurvePoint&, const Sha256&, const Signature&) { return need_part("OpenSSL", {}), false; }

}  // namespace isochron::v2x
