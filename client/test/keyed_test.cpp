// The target's own ciphers give what libsodium gives.

#include "client/keyed.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "core/random.hpp"
#include "link/auth.hpp"

namespace isochron::client {
namespace {

std::vector<std::byte> random_bytes(RandomStream& random, std::size_t n) {
  std::vector<std::byte> bytes(n);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.bits());
  return bytes;
}

TEST(Keyed, ProvesAsLibsodiumDoes) {
  RandomStream random(1, "keyed");
  for (std::size_t size = 0; size < 600; ++size) {
    const link::Key theirs = link::Key::generate();
    Hash32 ours{};
    const std::size_t key_bytes = parse_key(theirs.text() + "\n", ours);
    ASSERT_EQ(key_bytes, 32U);
    const auto what = random_bytes(random, size);
    EXPECT_EQ(prove(ours, "isochron client", what), theirs.prove("isochron client", what)) << size;
  }
}

TEST(Keyed, ProvesWithShortKeysToo) {
  const std::string text = "00112233445566778899aabbccddeeff";
  Hash32 ours{};
  ASSERT_EQ(parse_key(text, ours), 16U);
  const auto theirs = link::Key::parse(text, "test");
  EXPECT_EQ(prove(std::span(ours).first(16), "p", {}), theirs.prove("p", {}));
}

TEST(Keyed, SealsAsLibsodiumDoes) {
  RandomStream random(2, "keyed");
  Key16 key;
  for (std::byte& byte : key) byte = static_cast<std::byte>(random.bits());
  link::Sealer sealer(key);
  for (std::size_t size = 0; size < 300; ++size) {
    std::vector<std::byte> message(size + link::seal_bytes);
    const auto payload = random_bytes(random, size);
    std::copy(payload.begin(), payload.end(), message.begin() + 8);
    sealer.seal(message);
    std::uint64_t tag = 0;
    std::memcpy(&tag, message.data() + message.size() - 8, 8);
    EXPECT_EQ(siphash(key, std::span(message).first(message.size() - 8)), tag) << size;
  }
}

TEST(Keyed, RefusesWhatIsNoKey) {
  Hash32 key{};
  for (const char* text : {"", "   ", "0011", "0011223344556677889900112233445g", "00112233445566778899aabbccddeeff00",
                           "not a key at all"}) {
    EXPECT_EQ(parse_key(text, key), 0U) << text;
  }
}

TEST(Keyed, ComparesAllOfIt) {
  const std::array<std::byte, 3> a{std::byte{1}, std::byte{2}, std::byte{3}},
      b{std::byte{1}, std::byte{2}, std::byte{4}};
  EXPECT_TRUE(same(a, a));
  EXPECT_FALSE(same(a, b));
  EXPECT_FALSE(same(a, std::span(a).first(2)));
}

}  // namespace
}  // namespace isochron::client
