// Sealed messages as a bad network brings them, checked against a plain model: what was sealed opens once, whatever the
// order, as long as it is not too old; what was changed, cut, made up or seen before never does. The input is the
// network: each byte says what happens next, the bytes behind it to what.

#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/input_error.hpp"
#include "link/auth.hpp"

namespace {

using namespace isochron;
using namespace isochron::link;
using Bytes = std::vector<std::byte>;

void demand(bool so) {
  if (!so) std::abort();
}

class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

class Network {
 public:
  void step(Input& input) {
    switch (input.byte() % 6) {
      case 0:
        return seal(input);
      case 1:
        return pass(input);
      case 2:
        return change(input);
      case 3:
        return cut(input);
      case 4:
        return hurry(input);
      default:
        return make_up(input);
    }
  }

 private:
  struct Sent {
    Bytes message;
    bool opened = false;
  };
  Sent* pick(Input& input) {
    if (sent_.empty()) return nullptr;
    const std::size_t back = input.byte() % (input.byte() % 2 == 0 ? 8U : 255U);
    return &sent_[sent_.size() - 1 - std::min(back, sent_.size() - 1)];
  }
  void seal(Input& input) {
    Bytes message(seal_bytes + input.byte() % 64U, static_cast<std::byte>(input.byte()));
    sealer_.seal(message);
    sent_.push_back({std::move(message)});
  }
  /// Many go by that never come.
  void hurry(Input& input) {
    Bytes lost(seal_bytes);
    for (unsigned n = input.byte() * 8U; n > 0; --n) sealer_.seal(lost);
  }
  void pass(Input& input) {
    Sent* sent = pick(input);
    if (sent == nullptr) return;
    const std::uint64_t newest = opener_.window().highest();
    const auto opened = opener_.open(sent->message);
    std::uint64_t number = 0;
    std::memcpy(&number, sent->message.data(), sizeof number);
    const bool too_old = newest >= ReplayWindow::width && number <= newest - ReplayWindow::width;
    demand(opened.ok() == (!sent->opened && !too_old));
    if (!opened.ok()) return;
    sent->opened = true;
    demand(opened->number == number && opened->payload.size() == sent->message.size() - seal_bytes);
    demand(std::memcmp(opened->payload.data(), sent->message.data() + seal_head_bytes, opened->payload.size()) == 0);
  }
  void change(Input& input) {
    const Sent* sent = pick(input);
    if (sent == nullptr) return;
    Bytes changed = sent->message;
    changed[input.byte() % changed.size()] ^= static_cast<std::byte>(input.byte() | 1U);
    demand(!opener_.open(changed).ok());
  }
  void cut(Input& input) {
    const Sent* sent = pick(input);
    if (sent == nullptr) return;
    demand(!opener_.open(std::span(sent->message).first(input.byte() % sent->message.size())).ok());
  }
  void make_up(Input& input) {
    Bytes message(input.byte() % 80U);
    for (std::byte& b : message) b = static_cast<std::byte>(input.byte());
    demand(!opener_.open(message).ok());  // 2^-64 by chance
  }

  const std::array<std::byte, 16> key_{std::byte{42}};
  Sealer sealer_{key_};
  Opener opener_{key_};
  std::vector<Sent> sent_;
};

/// A handshake in which one byte may be changed: both sides agree, or neither goes on.
void shake_hands(Input& input) {
  static const Key key = Key::parse("00112233445566778899aabbccddeeff", "fuzz");
  const auto nonce = [&input] {
    Nonce made{};
    made[0] = static_cast<std::byte>(input.byte());
    return made;
  };
  Challenger server(key, "context", nonce);
  Responder client(key, input.byte() % 8 == 0 ? "another" : "context", nonce);
  Nonce challenge = server.challenge();
  const bool challenge_changed = input.byte() % 4 == 0;
  if (challenge_changed) challenge[input.byte() % challenge.size()] ^= std::byte{1};
  Answer answer = client.answer(challenge);
  if (input.byte() % 4 == 0) answer.proof[input.byte() % answer.proof.size()] ^= std::byte{1};
  const auto welcome = server.check(answer);
  demand(!server.check(answer));
  if (!welcome) return;
  demand(!challenge_changed);
  Proof proof = welcome->proof;
  const bool proof_changed = input.byte() % 4 == 0;
  if (proof_changed) proof[input.byte() % proof.size()] ^= std::byte{1};
  const auto keys = client.accept(proof);
  demand(keys.has_value() != proof_changed);
  if (!keys) return;
  demand(keys->to_server == welcome->keys.to_server && keys->to_client == welcome->keys.to_client &&
         keys->of_welcome == welcome->keys.of_welcome && keys->to_server != keys->to_client);
}

void parse_key(std::span<const std::uint8_t> bytes) {
  try {
    const Key key = Key::parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "fuzz");
    demand(key.text().size() == 32 || key.text().size() == 64);
  } catch (const InputError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  parse_key({data, size});
  Input input({data, size});
  if (input.byte() % 4 == 0) shake_hands(input);
  Network network;
  for (int i = 0; i < 200 && !input.empty(); ++i) network.step(input);
  return 0;
}
