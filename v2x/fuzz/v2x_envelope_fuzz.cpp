// Any octets as an envelope or a certificate: opened or refused. What is opened can be shown, doubted, and forged.

#include <cstdint>
#include <cstdlib>

#include "v2x/radio/forgery.hpp"
#include "v2x/security/envelope.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace isochron::v2x;
  const OctetView octets(data, size);
  const auto envelope = open_envelope(octets);
  if (envelope.ok()) {
    (void)to_json(*envelope).size();
    const bool open = envelope->content == Envelope::Content::unsecured || envelope->signed_part.has_value();
    const OctetView inside = message_inside(octets);
    if (open && !envelope->message.empty() && inside.size() != envelope->message.size()) std::abort();
  }
  (void)decode_certificate(octets).ok();
  Bytes forged(octets.begin(), octets.end());
  (void)forge_message(forged, [](Frame&) { return true; });
  return 0;
}
