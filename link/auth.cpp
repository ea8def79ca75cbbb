#include "link/auth.hpp"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <vector>

#include "core/input_error.hpp"
#include "link/fd.hpp"

namespace isochron::link {
namespace {

void need_sodium() {
  static const bool ready = ::sodium_init() >= 0;
  ENSURE(ready, "libsodium starts");
}

unsigned char* raw(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }
const unsigned char* raw(const std::byte* bytes) { return reinterpret_cast<const unsigned char*>(bytes); }

std::string_view trimmed(std::string_view text) {
  constexpr const char* blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// What both proofs and the session are made of.
std::vector<std::byte> transcript(const Nonce& server, const Nonce& client, const std::string& context) {
  std::vector<std::byte> all(server.begin(), server.end());
  all.insert(all.end(), client.begin(), client.end());
  const auto named = std::as_bytes(std::span(context));
  all.insert(all.end(), named.begin(), named.end());
  return all;
}

bool equal(const Proof& a, const Proof& b) { return ::sodium_memcmp(a.data(), b.data(), a.size()) == 0; }

SessionKeys session(const Key& key, std::span<const std::byte> handshake) {
  SessionKeys keys;
  const Proof up = key.prove("isochron to server", handshake), down = key.prove("isochron to client", handshake);
  std::copy_n(up.begin(), keys.to_server.size(), keys.to_server.begin());
  std::copy_n(down.begin(), keys.to_client.size(), keys.to_client.begin());
  const Proof welcome = key.prove("isochron of welcome", handshake);
  std::copy_n(welcome.begin(), keys.of_welcome.size(), keys.of_welcome.begin());
  return keys;
}

using Tag = std::array<std::byte, crypto_shorthash_siphashx24_BYTES>;

/// Over the number and the payload.
Tag tag_of(const std::array<std::byte, 16>& key, std::span<const std::byte> signed_part) {
  Tag tag;
  ::crypto_shorthash_siphashx24(raw(tag.data()), raw(signed_part.data()), signed_part.size(), raw(key.data()));
  return tag;
}

void put_number(std::byte* to, std::uint64_t number) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<std::byte>(number >> (8 * i));
}

std::uint64_t get_number(const std::byte* from) {
  std::uint64_t number = 0;
  for (int i = 0; i < 8; ++i) number |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
  return number;
}

}  // namespace

Nonce system_nonce() {
  need_sodium();
  Nonce nonce;
  ::randombytes_buf(nonce.data(), nonce.size());
  return nonce;
}

Key Key::parse(std::string_view text, const std::string& where) {
  need_sodium();
  const std::string_view digits = trimmed(text);
  Key key;
  const char* end = nullptr;
  const bool right_size = digits.size() == 32 || digits.size() == 64;
  if (!right_size ||
      ::sodium_hex2bin(raw(key.bytes_.data()), key.bytes_.size(), digits.data(), digits.size(), nullptr, &key.size_,
                       &end) != 0 ||
      end != digits.data() + digits.size()) {
    throw InputError({where, 0, 0}, "this is not a key",
                     "write 32 or 64 hexadecimal digits; `openssl rand -hex 32` makes some");
  }
  return key;
}

Key Key::from_file(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) throw InputError({path, 0, 0}, "cannot be read: " + std::generic_category().message(errno));
  struct stat about {};
  ::fstat(file.get(), &about);
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    throw InputError({path, 0, 0}, "others than its owner can read or write this key", "run chmod 600 " + path);
  }
  std::array<char, 256> text{};
  const auto n = ::read(file.get(), text.data(), text.size());
  if (n < 0) throw InputError({path, 0, 0}, "cannot be read: " + std::generic_category().message(errno));
  Key key = parse({text.data(), static_cast<std::size_t>(n)}, path);
  ::sodium_memzero(text.data(), text.size());
  return key;
}

std::optional<Key> Key::from_environment(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  return parse(text, std::string("$") + variable);
}

Key Key::generate() {
  need_sodium();
  Key key;
  key.size_ = key.bytes_.size();
  ::randombytes_buf(key.bytes_.data(), key.bytes_.size());
  return key;
}

std::string Key::text() const {
  std::array<char, 65> digits{};
  ::sodium_bin2hex(digits.data(), digits.size(), raw(bytes_.data()), size_);
  return digits.data();
}

Key::~Key() { ::sodium_memzero(bytes_.data(), bytes_.size()); }

Proof Key::prove(std::string_view purpose, std::span<const std::byte> what) const {
  crypto_generichash_state state;
  ::crypto_generichash_init(&state, raw(bytes_.data()), size_, sizeof(Proof));
  // The length keeps ("ab", "c") and ("a", "bc") apart.
  const auto length = static_cast<unsigned char>(purpose.size());
  ::crypto_generichash_update(&state, &length, 1);
  ::crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(purpose.data()), purpose.size());
  ::crypto_generichash_update(&state, raw(what.data()), what.size());
  Proof proof;
  ::crypto_generichash_final(&state, raw(proof.data()), proof.size());
  return proof;
}

Challenger::Challenger(const Key& key, std::string context, const NonceSource& nonces)
    : key_(key), context_(std::move(context)), nonce_(nonces()) {}

std::optional<Challenger::Welcome> Challenger::check(const Answer& answer) {
  if (std::exchange(used_, true)) return std::nullopt;
  const auto handshake = transcript(nonce_, answer.nonce, context_);
  if (!equal(answer.proof, key_.prove("isochron client", handshake))) return std::nullopt;
  return Welcome{key_.prove("isochron server", handshake), session(key_, handshake)};
}

Responder::Responder(const Key& key, std::string context, const NonceSource& nonces)
    : key_(key), context_(std::move(context)), nonce_(nonces()) {}

Answer Responder::answer(const Nonce& challenge) {
  challenge_ = challenge;
  return {nonce_, key_.prove("isochron client", transcript(challenge_, nonce_, context_))};
}

std::optional<SessionKeys> Responder::accept(const Proof& server_proof) const {
  const auto handshake = transcript(challenge_, nonce_, context_);
  if (!equal(server_proof, key_.prove("isochron server", handshake))) return std::nullopt;
  return session(key_, handshake);
}

ReplayWindow::Verdict ReplayWindow::take(std::uint64_t number) {
  const auto word = [this](std::uint64_t n) -> std::uint64_t& { return seen_[n % width / 64]; };
  const auto bit = [](std::uint64_t n) { return std::uint64_t{1} << (n % 64); };
  if (!any_ || number > highest_) {
    if (!any_ || number - highest_ >= width) {
      seen_.fill(0);
    } else {
      for (std::uint64_t n = highest_ + 1; n != number; ++n) word(n) &= ~bit(n);
    }
    any_ = true;
    highest_ = number;
    word(number) |= bit(number);
    return Verdict::fresh;
  }
  if (highest_ - number >= width) return Verdict::too_old;
  if ((word(number) & bit(number)) != 0) return Verdict::repeated;
  word(number) |= bit(number);
  return Verdict::fresh;
}

const char* to_string(SealFault fault) {
  switch (fault) {
    case SealFault::too_short:
      return "too short to be a message";
    case SealFault::forged:
      return "not from a holder of the key";
    case SealFault::repeated:
      return "seen before";
    case SealFault::too_old:
      return "too old to tell whether it was seen before";
  }
  return "";
}

void Sealer::seal(std::span<std::byte> message) {
  ENSURE(message.size() >= seal_bytes, "a sealed message has room for its number and tag");
  put_number(message.data(), ++number_);
  const auto signed_part = message.first(message.size() - seal_tag_bytes);
  const Tag tag = tag_of(key_, signed_part);
  std::memcpy(message.data() + signed_part.size(), tag.data(), seal_tag_bytes);
}

Result<Opened, SealFault> Opener::open(std::span<const std::byte> message) {
  if (message.size() < seal_bytes) return fail(SealFault::too_short);
  const auto signed_part = message.first(message.size() - seal_tag_bytes);
  const Tag tag = tag_of(key_, signed_part);
  if (::sodium_memcmp(tag.data(), message.data() + signed_part.size(), seal_tag_bytes) != 0) {
    return fail(SealFault::forged);
  }
  const std::uint64_t number = get_number(message.data());
  switch (window_.take(number)) {
    case ReplayWindow::Verdict::repeated:
      return fail(SealFault::repeated);
    case ReplayWindow::Verdict::too_old:
      return fail(SealFault::too_old);
    case ReplayWindow::Verdict::fresh:
      break;
  }
  return Opened{number, signed_part.subspan(seal_head_bytes)};
}

}  // namespace isochron::link
