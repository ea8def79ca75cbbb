// Envelopes of IEEE 1609.2: what is read of them, and what is refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "v2x/security/envelope.hpp"

namespace isochron::v2x {
namespace {

using ::testing::HasSubstr;

// A frame of number 240 with the octets 01 02.
const std::string frame = "00F0020102";
const std::string r(64, '1'), s(64, '2');
const std::string signature = "8080" + r + s;

Bytes octets(const std::string& hex) { return *from_hex(hex); }
std::string error_of(const std::string& hex) {
  const auto opened = open_envelope(octets(hex));
  return opened.ok() ? "" : to_string(opened.error());
}

TEST(Envelope, AnUnsecuredOneIsOpened) {
  const auto opened = open_envelope(octets("038005" + frame));
  ASSERT_TRUE(opened.ok()) << to_string(opened.error());
  EXPECT_EQ(opened->content, Envelope::Content::unsecured);
  EXPECT_EQ(to_hex(opened->message), frame);
  EXPECT_FALSE(opened->signed_part.has_value());
  EXPECT_EQ(to_hex(message_inside(octets("038005" + frame))), frame);
}

TEST(Envelope, ASignedOneTellsWhatForWhenWhereAndByWhom) {
  // psid 0x20, generationTime, generationLocation 0.0000001 N, 0.0000001 W, 0 m; signed by a digest.
  const std::string hex =
      "038100"
      "40"
      "038005" +
      frame +
      "50"
      "0120"
      "0001C0E6E5E68C00"
      "00000001FFFFFFFF1000"
      "80"
      "0102030405060708" +
      signature;
  const auto opened = open_envelope(octets(hex));
  ASSERT_TRUE(opened.ok()) << to_string(opened.error());
  ASSERT_TRUE(opened->signed_part.has_value());
  const SignedPart& part = *opened->signed_part;
  EXPECT_EQ(to_hex(opened->message), frame);
  EXPECT_EQ(part.header.psid, 0x20u);
  EXPECT_EQ(part.header.generation_us, std::optional<std::uint64_t>(0x0001C0E6E5E68C00));
  EXPECT_NEAR(part.header.location->latitude_deg, 1e-7, 1e-12);
  EXPECT_NEAR(part.header.location->longitude_deg, -1e-7, 1e-12);
  EXPECT_NEAR(part.header.location->elevation_m, 0, 1e-9);
  EXPECT_EQ(part.signer, SignerKind::digest);
  EXPECT_EQ(to_hex(part.digest), "0102030405060708");
  EXPECT_EQ(part.signature.r.x[0], 0x11);
  EXPECT_EQ(part.signature.s[31], 0x22);
  EXPECT_EQ(to_hex(part.to_be_signed).substr(0, 14), "40038005" + frame.substr(0, 6));
  EXPECT_EQ(to_hex(message_inside(octets(hex))), frame);
  const std::string json = to_json(*opened);
  EXPECT_THAT(json, HasSubstr("\"for\": \"BSM\""));
  EXPECT_THAT(json, HasSubstr("\"digest\": \"0102030405060708\""));
}

TEST(Envelope, ReadsCertificatesOfEveryPart) {
  // Issued by another one; a name, series 2, 1 year, a circle, assurance, one application with an SSP, permissions to
  // issue, a key for encryption, a compressed key; then its signature.
  const std::string point = "83" + std::string(64, '3');
  const std::string permissions =
      "0101"
      "00"
      "800101"
      "00"
      "0120";  // one group: explicit, one PSID without a range
  const std::string tbs =
      "79"
      "8104"
      "74657374"
      "0A0B0C"
      "0002"
      "00000010860001"
      "80"
      "00000001000000020064"
      "C0"
      "0101"
      "80012080"
      "020102" +
      permissions +
      "00"
      "80" +
      point + "8080" + point;
  const std::string hex =
      "80"
      "03"
      "00"
      "80"
      "0807060504030201" +
      tbs + signature;
  const auto read = decode_certificate(octets(hex));
  ASSERT_TRUE(read.ok()) << to_string(read.error());
  EXPECT_FALSE(read->implicit);
  EXPECT_EQ(to_hex(*read->issuer), "0807060504030201");
  EXPECT_EQ(read->name, "test");
  EXPECT_EQ(read->crl_series, 2);
  EXPECT_EQ(read->valid_from_s, 16u);
  EXPECT_NEAR(read->valid_for_s, 31556952, 1);
  ASSERT_TRUE(read->region.has_value());
  EXPECT_EQ(read->region->radius_m, 100);
  ASSERT_EQ(read->applications.size(), 1u);
  EXPECT_EQ(to_hex(read->applications[0].ssp), "0102");
  EXPECT_TRUE(read->permits(0x20));
  EXPECT_FALSE(read->permits(0x82));
  EXPECT_TRUE(read->issues);
  ASSERT_TRUE(read->key.has_value());
  EXPECT_EQ(read->key->x[0], 0x33);
  EXPECT_EQ(to_hex(read->canonical), hex);
  EXPECT_EQ(to_hex(read->to_be_signed), tbs);
  // The canonical form has short points: of an uncompressed key its x and whether y is odd, of r its x.
  const std::string y(64, '5');
  std::string longer = hex;
  longer.replace(longer.rfind(point), point.size(), "84" + std::string(64, '3') + y);
  longer.replace(longer.rfind("8080" + r), 4, "8082");
  const auto same = decode_certificate(octets(longer));
  ASSERT_TRUE(same.ok()) << to_string(same.error());
  EXPECT_EQ(to_hex(same->canonical), hex);
  EXPECT_EQ(to_hex(same->to_be_signed), tbs);
}

TEST(Envelope, WhatIsClosedStaysClosed) {
  const auto opened = open_envelope(octets("0382AABBCC"));
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened->content, Envelope::Content::encrypted);
  EXPECT_EQ(to_hex(opened->message), "AABBCC");
  EXPECT_THAT(to_json(*opened), HasSubstr("\"closed\": \"AABBCC\""));
}

TEST(Envelope, MistakesAreNamed) {
  EXPECT_THAT(error_of("028005" + frame), HasSubstr("protocolVersion: version 2"));
  EXPECT_THAT(error_of("03"
                       "800500"),
              HasSubstr("the message ends here"));
  EXPECT_THAT(error_of("0381"
                       "00"
                       "40"
                       "0380"
                       "05" +
                       frame +
                       "40"
                       "0120"),
              HasSubstr("headerInfo.generationTime: the message ends"));
  EXPECT_THAT(error_of("0381"
                       "00"
                       "40"
                       "0382"
                       "00"),
              HasSubstr("payload.data: what is signed"));
  EXPECT_THAT(error_of("0399"), HasSubstr("beyond all editions"));
  EXPECT_FALSE(is_envelope(octets(frame)));
  EXPECT_FALSE(decode_certificate({}).ok());
}

TEST(Envelope, EveryTruncationAndEveryFlippedBitIsReadOrRefused) {
  const std::string hex =
      "038100"
      "40"
      "038005" +
      frame +
      "40"
      "0120"
      "0001C0E6E5E68C00"
      "80"
      "0102030405060708" +
      signature;
  const Bytes whole = octets(hex);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_FALSE(open_envelope(OctetView(whole).first(n)).ok()) << "cut to " << n;
  }
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    Bytes flipped = whole;
    flipped[bit / 8] = static_cast<std::uint8_t>(flipped[bit / 8] ^ 1U << bit % 8);
    const auto opened = open_envelope(flipped);
    EXPECT_TRUE(opened.ok() ? !to_json(*opened).empty() : !opened.error().what.empty());
  }
}

TEST(Envelope, ItsTimeIsThatOfTheCalendar) {
  EXPECT_EQ(utc_of_time64(0), "2004-01-01T00:00:00.000000Z");
  const std::uint64_t in_2030 = time64_of_unix_ns(1'893'456'000'000'000'000);
  EXPECT_EQ(utc_of_time64(in_2030 + 250'000), "2030-01-01T00:00:00.250000Z");
  EXPECT_EQ(utc_of_time64(time64_of_unix_ns(1'136'073'599'000'000'000)), "2005-12-31T23:59:59.000000Z");
  EXPECT_EQ(utc_of_time64(time64_of_unix_ns(1'136'073'600'000'000'000)), "2006-01-01T00:00:00.000000Z");
  EXPECT_EQ(utc_of_time64(~std::uint64_t{0}), "beyond all calendars");
}

}  // namespace
}  // namespace isochron::v2x
