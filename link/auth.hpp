#pragma once
// Who may speak: those who hold a shared key. At the start each side proves to the other that it does, without showing
// it (challenge and response, both ways); from then on every message carries a short proof that it comes from that
// peer, and that it is new. The ciphers are libsodium's: keyed BLAKE2b for keys and proofs, SipHash-2-4-128 for
// messages.
//
//     server                                      client
//       | -- challenge: server's nonce ------------> |
//       | <- answer: client's nonce, proof --------- |    proof   = MAC(key, "client", both nonces, context)
//       | -- welcome: server's proof --------------> |    session = KDF(key, both nonces), a key for each direction
//
// Messages stay readable: this keeps strangers out, it does not keep secrets.
//
// Threads: owner thread; Key may be read by any.
// Cost:    ~0.1 µs for a message of 64 B; no heap.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/result.hpp"

namespace isochron::link {

using Nonce = std::array<std::byte, 32>;
using Proof = std::array<std::byte, 32>;

/// Where nonces come from; the default is the system's randomness. Tests hand in a seeded one.
using NonceSource = std::function<Nonce()>;
[[nodiscard]] Nonce system_nonce();

/// 128 or 256 bits that both sides know.
class Key {
 public:
  /// 32 or 64 hexadecimal digits, white space around them allowed. Throws InputError naming `where`.
  static Key parse(std::string_view text, const std::string& where);
  /// A file that only its owner can read. Throws InputError.
  static Key from_file(const std::string& path);
  /// From a variable of the environment; nothing if it is not set. Throws InputError.
  static std::optional<Key> from_environment(const char* variable);
  /// A new one of 256 bits, from the system's randomness.
  static Key generate();
  /// As parse() reads it.
  [[nodiscard]] std::string text() const;

  Key(const Key&) = default;
  Key& operator=(const Key&) = default;
  ~Key();  // leaves no trace in memory

  /// MAC over what, keyed with this key; `purpose` keeps the uses apart.
  [[nodiscard]] Proof prove(std::string_view purpose, std::span<const std::byte> what) const;

 private:
  Key() = default;
  std::array<std::byte, 32> bytes_{};
  std::size_t size_ = 0;
};

/// Keys of one session, one for each direction, so that a message cannot be sent back as an answer.
struct SessionKeys {
  std::array<std::byte, 16> to_server{};
  std::array<std::byte, 16> to_client{};
  std::array<std::byte, 16> of_welcome{};  // for what the server tells over the stream that the handshake was on
};

struct Answer {
  Nonce nonce;
  Proof proof;
};

/// The server's side of one handshake. `context` names what is joined (a scenario's digest, a protocol version): both
/// sides must have the same.
class Challenger {
 public:
  Challenger(const Key& key, std::string context, const NonceSource& nonces = system_nonce);
  [[nodiscard]] const Nonce& challenge() const { return nonce_; }
  struct Welcome {
    Proof proof;
    SessionKeys keys;
  };
  /// Nothing if the client does not hold the key. Once only: a second answer is refused.
  [[nodiscard]] std::optional<Welcome> check(const Answer& answer);

 private:
  Key key_;
  std::string context_;
  Nonce nonce_;
  bool used_ = false;
};

/// The client's side.
class Responder {
 public:
  Responder(const Key& key, std::string context, const NonceSource& nonces = system_nonce);
  [[nodiscard]] Answer answer(const Nonce& challenge);
  /// The session, if the server holds the key too.
  [[nodiscard]] std::optional<SessionKeys> accept(const Proof& server_proof) const;

 private:
  Key key_;
  std::string context_;
  Nonce nonce_, challenge_{};
};

/// Remembers which of the last numbers were seen, so that each message is taken once, in any order.
class ReplayWindow {
 public:
  static constexpr std::uint64_t width = 1024;
  enum class Verdict { fresh, repeated, too_old };
  /// Looks and remembers. Only for numbers that were authenticated.
  Verdict take(std::uint64_t number);
  [[nodiscard]] std::uint64_t highest() const { return highest_; }

 private:
  std::array<std::uint64_t, width / 64> seen_{};
  std::uint64_t highest_ = 0;
  bool any_ = false;
};

/// A sealed message is: number (8, little endian) | payload | tag (8).
inline constexpr std::size_t seal_head_bytes = 8;
inline constexpr std::size_t seal_tag_bytes = 8;
inline constexpr std::size_t seal_bytes = seal_head_bytes + seal_tag_bytes;

/// Seals what one side sends.
class Sealer {
 public:
  explicit Sealer(const std::array<std::byte, 16>& key) : key_(key) {}
  /// The payload stands at message[8 …]; the message is 16 bytes longer than it. Numbers count up from 1.
  void seal(std::span<std::byte> message);

 private:
  std::array<std::byte, 16> key_;
  std::uint64_t number_ = 0;
};

enum class SealFault { too_short, forged, repeated, too_old };
[[nodiscard]] const char* to_string(SealFault fault);

struct Opened {
  std::uint64_t number;
  std::span<const std::byte> payload;
};

/// Opens what the other side sent; refuses what was forged, changed or seen before.
class Opener {
 public:
  explicit Opener(const std::array<std::byte, 16>& key) : key_(key) {}
  Result<Opened, SealFault> open(std::span<const std::byte> message);
  [[nodiscard]] const ReplayWindow& window() const { return window_; }

 private:
  std::array<std::byte, 16> key_;
  ReplayWindow window_;
};

}  // namespace isochron::link
