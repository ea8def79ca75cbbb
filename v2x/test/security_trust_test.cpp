// Who is believed, and who is not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/build_parts.hpp"
#include "v2x/security/trust.hpp"

namespace isochron::v2x {
namespace {

using ::testing::HasSubstr;

template <std::size_t n>
std::array<std::uint8_t, n> octets(const std::string& hex) {
  const Bytes bytes = *from_hex(hex);
  std::array<std::uint8_t, n> made{};
  std::copy(bytes.begin(), bytes.end(), made.begin());
  return made;
}
OctetView text(std::string_view t) { return {reinterpret_cast<const std::uint8_t*>(t.data()), t.size()}; }

class Trusted : public ::testing::Test {
 protected:
  static constexpr std::uint32_t from_s = 1000;
  static constexpr std::uint64_t now_us = 2'000'000'000;

  void SetUp() override {
    if (!has_part("OpenSSL")) GTEST_SKIP() << "this build has no OpenSSL";
    authority = make_authority("seed", "authority", from_s);
    car = make_credentials(authority, "seed", "car", from_s, 1, {0x20});
    trust.vouch_for(*decode_certificate(authority.certificate));
  }
  [[nodiscard]] Bytes signed_by(const Credentials& who, bool whole, std::uint64_t psid = 0x20,
                                std::uint64_t at_us = now_us) const {
    return signed_message(who, {message, psid, at_us}, whole);
  }
  std::string doubts(const Bytes& message_octets) {
    const auto envelope = open_envelope(message_octets);
    return envelope.ok() ? trust.doubts(*envelope) : to_string(envelope.error());
  }

  const Bytes message{0, 20, 1, 2, 3};
  Credentials authority, car;
  Trust trust;
};

TEST_F(Trusted, SignaturesAreThoseOfRfc6979) {
  const auto secret = octets<32>("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721");
  const CurvePoint key = public_key(secret);
  EXPECT_EQ(to_hex(key.x), "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6");
  EXPECT_EQ(key.form, CurvePoint::Form::compressed_odd);
  const Sha256 hash = sha256(text("sample"));
  const Signature made = sign(secret, hash);
  EXPECT_EQ(to_hex(made.r.x), "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716");
  EXPECT_EQ(to_hex(made.s), "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8");
  EXPECT_TRUE(verify(key, hash, made));
  EXPECT_FALSE(verify(key, sha256(text("simple")), made));
  Signature nothing;
  EXPECT_FALSE(verify(key, hash, nothing));
  CurvePoint nowhere = key;
  nowhere.x.fill(0xff);
  EXPECT_FALSE(verify(nowhere, hash, made));
}

TEST_F(Trusted, WhoIsCertifiedIsBelieved) {
  EXPECT_EQ(doubts(signed_by(car, true)), "");
  EXPECT_EQ(doubts(signed_by(car, false)), "") << "its certificate came along before";
  EXPECT_EQ(signed_by(car, true), signed_by(car, true));
  EXPECT_EQ(open_envelope(signed_by(car, false))->message, message);
  EXPECT_EQ(to_hex(signed_by(car, false)).substr(0, 12), "038100400380");
}

TEST_F(Trusted, WhoIsNotIsDoubtedWithAReason) {
  EXPECT_THAT(doubts(signed_by(car, false)), HasSubstr("is not known"));
  EXPECT_THAT(doubts(*from_hex("03800100")), HasSubstr("is not signed"));
  const Credentials other = make_authority("another seed", "other", from_s);
  const Credentials stranger = make_credentials(other, "seed", "stranger", from_s, 1, {0x20});
  EXPECT_THAT(doubts(signed_by(stranger, true)), HasSubstr("nobody trusted has signed"));
  const Credentials by_car = make_credentials(car, "seed", "friend", from_s, 1, {0x20});
  trust.vouch_for(*decode_certificate(car.certificate));
  EXPECT_THAT(doubts(signed_by(by_car, true)), HasSubstr("may not sign any"));
  EXPECT_THAT(doubts(signed_by(car, true, 0x82)), HasSubstr("not for messages of PSID 130"));
  EXPECT_THAT(doubts(signed_by(car, true, 0x20, now_us + 7'200'000'000)), HasSubstr("not valid"));
  EXPECT_THAT(doubts(signed_by(car, true, 0x20, 1'000'000)), HasSubstr("not valid"));
  trust.revoke(car.digest);
  EXPECT_THAT(doubts(signed_by(car, true)), HasSubstr("revoked"));
}

TEST_F(Trusted, WhateverIsChangedIsNoticed) {
  const Bytes whole = signed_by(car, true);
  ASSERT_EQ(doubts(whole), "");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    Bytes changed = whole;
    changed[i] ^= 1;
    Trust fresh;
    fresh.vouch_for(*decode_certificate(authority.certificate));
    const auto envelope = open_envelope(changed);
    EXPECT_FALSE(envelope.ok() && fresh.doubts(*envelope).empty()) << "octet " << i;
  }
}

}  // namespace
}  // namespace isochron::v2x
