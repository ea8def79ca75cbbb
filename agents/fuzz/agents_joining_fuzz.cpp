// Joining a world, from both sides: whatever strangers and holders of the key say to the gatekeeper, and whatever a
// server, true or false, says to a client. The first byte chooses who speaks.

#include <cstdlib>
#include <cstring>

#include "agents/client_link.hpp"
#include "agents/server.hpp"
#include "testing/desk_reactor.hpp"

namespace {

using namespace isochron;
using namespace isochron::agents;

const link::Key key = link::Key::parse("00112233445566778899aabbccddeeff", "fuzz");
link::Nonce one_nonce() { return link::Nonce{std::byte{1}}; }

void demand(bool so) {
  if (!so) std::abort();
}

void say(DeskReactor::Wire& wire, const wire::Handshake& what) { DeskReactor::say(wire, framed(what)); }

/// Takes the first frame that was sent.
wire::Handshake heard(DeskReactor::Wire& wire) {
  wire::Handshake what;
  if (wire.sent.size() < link::frame_header_bytes) return what;
  std::uint32_t length = 0;
  std::memcpy(&length, wire.sent.data(), sizeof length);
  what.ParseFromArray(wire.sent.data() + link::frame_header_bytes, static_cast<int>(length));
  wire.sent.erase(wire.sent.begin(), wire.sent.begin() + link::frame_header_bytes + length);
  return what;
}

/// What a visitor says, as it is; or inside a request whose proof is right.
void visit(std::span<const std::byte> said, bool proved) {
  DeskReactor desk;
  ServerSettings settings;
  settings.door.nonces = one_nonce;
  Server server(desk, key, Address::loopback(1), settings);
  const auto wire = desk.visit();
  if (!proved) return DeskReactor::say(*wire, said);
  link::Responder responder(key, handshake_context, one_nonce);
  const link::Answer answer = responder.answer(one_nonce());
  wire::Handshake what;
  if (!what.mutable_request()->ParseFromArray(said.data(), static_cast<int>(said.size()))) return;
  what.mutable_request()->set_nonce(answer.nonce.data(), answer.nonce.size());
  what.mutable_request()->set_proof(answer.proof.data(), answer.proof.size());
  say(*wire, what);
  desk.drop_in(said);
  (void)server.report();
}

/// What a server says to a client: as it is, or sealed as by one that holds the key, and then in datagrams.
void serve(std::span<const std::byte> said, bool proved) {
  DeskReactor desk;
  SharedCache shared(std::chrono::milliseconds(5));
  ClientSettings settings;
  settings.name = "fuzz";
  settings.nonces = one_nonce;
  ClientLink client(desk, key, shared, settings);
  client.start();
  const auto wire = desk.dialled();
  if (!proved) {
    DeskReactor::say(*wire, said);
    demand(!shared.joined);
    return;
  }
  link::Challenger challenger(key, handshake_context, one_nonce);
  wire::Handshake what;
  what.mutable_challenge()->set_nonce(challenger.challenge().data(), challenger.challenge().size());
  say(*wire, what);
  const wire::Handshake request = heard(*wire);
  link::Answer answer;
  demand(request.request().nonce().size() == answer.nonce.size());
  std::memcpy(answer.nonce.data(), request.request().nonce().data(), answer.nonce.size());
  std::memcpy(answer.proof.data(), request.request().proof().data(), answer.proof.size());
  const auto welcome = challenger.check(answer);
  demand(welcome.has_value());
  what.mutable_accept()->set_proof(welcome->proof.data(), welcome->proof.size());
  say(*wire, what);
  link::Sealer sealer(welcome->keys.of_welcome);
  what.mutable_connection()->set_number(7);
  say(*wire, sealed(what, sealer));
  if (!what.mutable_world()->ParseFromArray(said.data(), static_cast<int>(said.size()))) {
    what.mutable_world()->set_heartbeat_ns(5'000'000);
  }
  say(*wire, sealed(what, sealer));
  std::vector<std::byte> datagram(connection_bytes + link::seal_bytes + said.size());
  datagram[0] = std::byte{7};
  if (!said.empty()) std::memcpy(datagram.data() + connection_bytes + link::seal_head_bytes, said.data(), said.size());
  link::Sealer(welcome->keys.to_client).seal(std::span(datagram).subspan(connection_bytes));
  desk.drop_in(datagram);
  shared.cache.for_each([&](const Outsider& agent) { (void)shared.cache.at(agent, SimTime::zero()); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || size > largest_datagram) return 0;
  const auto said = std::as_bytes(std::span(data + 1, size - 1));
  const bool proved = (data[0] & 2U) != 0;
  (data[0] & 1U) == 0 ? visit(said, proved) : serve(said, proved);
  return 0;
}
