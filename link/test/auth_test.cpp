#include "link/auth.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <vector>

#include "core/input_error.hpp"
#include "core/random.hpp"
#include "link/content_hash.hpp"

namespace isochron::link {
namespace {

using ::testing::HasSubstr;

const char* const key_text = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
Key test_key() { return Key::parse(key_text, "test"); }

NonceSource seeded(std::uint64_t seed) {
  return [random = std::make_shared<RandomStream>(seed, "nonces")] {
    Nonce nonce;
    for (auto& b : nonce) b = static_cast<std::byte>(random->bits());
    return nonce;
  };
}

std::string refusal(const std::function<void()>& what) {
  try {
    what();
  } catch (const InputError& error) {
    return error.what();
  }
  return "(accepted)";
}

/// A file for one test.
struct KeyFile {
  KeyFile(const std::string& text, mode_t mode)
      : path(::testing::TempDir() + "isochron_key_test." + std::to_string(::getpid())) {
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
  }
  ~KeyFile() { ::unlink(path.c_str()); }
  std::string path;
};

TEST(Key, IsReadFromTextOf128Or256Bits) {
  EXPECT_EQ(test_key().text(), key_text);
  EXPECT_EQ(Key::parse(" 00112233445566778899aabbccddeeff\n", "").text(), "00112233445566778899aabbccddeeff");
  EXPECT_EQ(Key::parse(Key::generate().text(), "").text().size(), 64U);
}

TEST(Key, SaysWhatIsWrongWithATextAndWhere) {
  for (const char* text : {"", "00", "zz112233445566778899aabbccddeeff", "00112233445566778899aabbccddeeff00",
                           "0011223344556677 8899aabbccddeeff"}) {
    const std::string why = refusal([&] { (void)Key::parse(text, "robots.yaml"); });
    EXPECT_THAT(why, HasSubstr("robots.yaml")) << text;
    EXPECT_THAT(why, HasSubstr("openssl rand -hex 32")) << text;
  }
}

TEST(Key, FromAFileThatOnlyItsOwnerReads) {
  EXPECT_EQ(Key::from_file(KeyFile(std::string(key_text) + "\n", 0600).path).text(), key_text);
  const KeyFile open(key_text, 0644);
  EXPECT_THAT(refusal([&] { (void)Key::from_file(open.path); }), HasSubstr("chmod 600 " + open.path));
  EXPECT_THAT(refusal([&] { (void)Key::from_file("/no/such/key"); }), HasSubstr("/no/such/key"));
}

TEST(Key, FromTheEnvironment) {
  ::unsetenv("ISOCHRON_TEST_KEY");
  EXPECT_FALSE(Key::from_environment("ISOCHRON_TEST_KEY"));
  ::setenv("ISOCHRON_TEST_KEY", key_text, 1);
  EXPECT_EQ(Key::from_environment("ISOCHRON_TEST_KEY")->text(), key_text);
  ::setenv("ISOCHRON_TEST_KEY", "short", 1);
  EXPECT_THAT(refusal([] { (void)Key::from_environment("ISOCHRON_TEST_KEY"); }), HasSubstr("$ISOCHRON_TEST_KEY"));
  ::unsetenv("ISOCHRON_TEST_KEY");
}

TEST(Handshake, BothSidesComeToTheSameSession) {
  Challenger server(test_key(), "v1", seeded(1));
  Responder client(test_key(), "v1", seeded(2));
  const auto welcome = server.check(client.answer(server.challenge()));
  ASSERT_TRUE(welcome);
  const auto keys = client.accept(welcome->proof);
  ASSERT_TRUE(keys);
  EXPECT_EQ(keys->to_server, welcome->keys.to_server);
  EXPECT_EQ(keys->to_client, welcome->keys.to_client);
  EXPECT_NE(keys->to_server, keys->to_client);
}

TEST(Handshake, RefusesAnotherKeyContextOrServer) {
  Challenger server(test_key(), "v1");
  EXPECT_FALSE(server.check(Responder(Key::generate(), "v1").answer(server.challenge())));
  Challenger second(test_key(), "v1");
  EXPECT_FALSE(second.check(Responder(test_key(), "v2").answer(second.challenge())));
  Responder client(test_key(), "v1");
  Challenger liar(Key::generate(), "v1");
  const Answer answer = client.answer(liar.challenge());
  EXPECT_FALSE(liar.check(answer));
  EXPECT_FALSE(client.accept(answer.proof)) << "the client's own proof sent back";
}

TEST(Handshake, AnAnswerIsGoodOnceAndForItsChallengeOnly) {
  Challenger server(test_key(), "v1");
  Responder client(test_key(), "v1");
  const Answer answer = client.answer(server.challenge());
  EXPECT_TRUE(server.check(answer));
  EXPECT_FALSE(server.check(answer)) << "replayed to the same";
  EXPECT_FALSE(Challenger(test_key(), "v1").check(answer)) << "replayed to another";
}

TEST(Handshake, EachHasASessionOfItsOwn) {
  std::set<std::array<std::byte, 16>> keys;
  for (int i = 0; i < 20; ++i) {
    Challenger server(test_key(), "v1");
    Responder client(test_key(), "v1");
    keys.insert(server.check(client.answer(server.challenge()))->keys.to_server);
  }
  EXPECT_EQ(keys.size(), 20U);
}

std::vector<std::byte> sealed(Sealer& sealer, std::string_view payload) {
  std::vector<std::byte> message(payload.size() + seal_bytes);
  std::memcpy(message.data() + seal_head_bytes, payload.data(), payload.size());
  sealer.seal(message);
  return message;
}

TEST(Seal, OpensWhatWasSealedWithItsNumber) {
  Sealer sealer({});
  Opener opener({});
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const auto message = sealed(sealer, "payload");
    const auto opened = opener.open(message);
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(opened->number, i);
    EXPECT_EQ(std::memcmp(opened->payload.data(), "payload", 7), 0);
    EXPECT_EQ(opened->payload.size(), 7U);
  }
  EXPECT_TRUE(opener.open(sealed(sealer, "")).ok());
}

TEST(Seal, RefusesEveryChangedBitEveryTruncationAndAnotherKey) {
  Sealer sealer({});
  const auto message = sealed(sealer, "some payload");
  for (std::size_t bit = 0; bit < message.size() * 8; ++bit) {
    auto changed = message;
    changed[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    EXPECT_EQ(Opener({}).open(changed).error(), SealFault::forged) << bit;
  }
  for (std::size_t n = 0; n < message.size(); ++n) {
    EXPECT_FALSE(Opener({}).open(std::span(message).first(n)).ok()) << n;
  }
  EXPECT_EQ(Opener({std::byte{1}}).open(message).error(), SealFault::forged);
}

TEST(Seal, TakesEachMessageOnceInAnyOrder) {
  Sealer sealer({});
  Opener opener({});
  std::vector<std::vector<std::byte>> messages;
  for (int i = 0; i < 200; ++i) messages.push_back(sealed(sealer, "m" + std::to_string(i)));
  RandomStream random(1, "shuffle");
  for (std::size_t i = messages.size() - 1; i > 0; --i) std::swap(messages[i], messages[random.below(i + 1)]);
  for (const auto& message : messages) EXPECT_TRUE(opener.open(message).ok());
  for (const auto& message : messages) EXPECT_EQ(opener.open(message).error(), SealFault::repeated);
}

TEST(Seal, RandomBytesNeverOpen) {
  Opener opener({std::byte{9}});
  RandomStream random(1, "noise");
  for (int i = 0; i < 100'000; ++i) {
    std::array<std::byte, 40> noise;
    for (std::size_t at = 0; at < noise.size(); at += 8) {
      const std::uint64_t bits = random.bits();
      std::memcpy(noise.data() + at, &bits, 8);
    }
    ASSERT_FALSE(opener.open(std::span(noise).first(random.below(41))).ok());
  }
}

TEST(ReplayWindow, AgreesWithAMemoryOfEverything) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, "window");
    ReplayWindow window;
    std::set<std::uint64_t> all;
    std::uint64_t base = random.below(3) == 0 ? 0 : random.bits() >> 2;
    for (int i = 0; i < 20'000; ++i) {
      base += random.chance(0.001) ? random.below(3000) : random.below(3);
      const std::uint64_t number = base - std::min(base, std::uint64_t{random.below(1200)});
      const std::uint64_t highest = all.empty() ? 0 : *all.rbegin();
      const bool old = !all.empty() && number <= highest && highest - number >= ReplayWindow::width;
      const auto expected = old                    ? ReplayWindow::Verdict::too_old
                            : all.contains(number) ? ReplayWindow::Verdict::repeated
                                                   : ReplayWindow::Verdict::fresh;
      ASSERT_EQ(window.take(number), expected) << number << " seed " << seed;
      all.insert(number);
    }
  }
}

TEST(ReplayWindow, WorksAtBothEndsOfTheNumbers) {
  ReplayWindow window;
  EXPECT_EQ(window.take(0), ReplayWindow::Verdict::fresh);
  EXPECT_EQ(window.take(0), ReplayWindow::Verdict::repeated);
  EXPECT_EQ(window.take(UINT64_MAX), ReplayWindow::Verdict::fresh);
  EXPECT_EQ(window.take(UINT64_MAX), ReplayWindow::Verdict::repeated);
  EXPECT_EQ(window.take(UINT64_MAX - 1), ReplayWindow::Verdict::fresh);
  EXPECT_EQ(window.take(5), ReplayWindow::Verdict::too_old);
}

TEST(ContentHash, IsWhatSha256sumPrints) {
  const std::string text = "abc";
  EXPECT_EQ(content_hash(std::as_bytes(std::span(text))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace isochron::link
