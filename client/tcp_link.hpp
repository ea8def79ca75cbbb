#pragma once
// A target's link to its host over TCP: one connection for each thread that talks, so that each is held by itself. With
// every request it tells, by this machine's own clock, when the answer before came and when the request left.
//
// It needs libc and sockets only (client/keyed.hpp has the ciphers). Who was given a key talks to nobody who does not
// prove to hold it, whatever the other side says it needs; and it takes no more bytes than it has asked for.
//
// Threads: one TcpLink for each thread. Cost: ask() blocks until answered; buffers grow to the largest message.
// Fails:   false, with a sentence; the connection is then of no use any more.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/keyed.hpp"
#include "client/transport.hpp"
#include "protocol/target_wire.hpp"

namespace isochron::client {

/// Where the host is and who we are, from ISOCHRON=tcp://HOST:PORT/ROBOT/PROGRAM and the key's variables.
struct TcpAddress {
  std::string host, port, name;
  std::array<std::byte, 32> key{};
  std::size_t key_bytes = 0;
};
/// "" = fine; else what is wrong with it.
std::string parse_tcp(const char* text, TcpAddress& address);
/// The part that does not depend on the way there: the name, which the environment may give, and the key.
std::string read_identity(TcpAddress& address);

class TcpLink {
 public:
  TcpLink() = default;
  ~TcpLink() { close(true); }
  TcpLink(const TcpLink&) = delete;
  TcpLink& operator=(const TcpLink&) = delete;

  /// `session` 0: as the target's first link; it is set then.
  bool open(const TcpAddress& address, std::uint64_t& session, std::string& why);
  /// The same over a socket that is connected already; it is closed with the link.
  bool open_on(int socket, const TcpAddress& address, std::uint64_t& session, std::string& why);
  bool ask(protocol::Exchange& exchange, const Payload& payload, std::string& why);
  void close(bool say_bye);
  [[nodiscard]] bool is_open() const { return socket_ >= 0; }
  /// The run is over, as the host has said: nothing is asked any more, and it may be gone.
  [[nodiscard]] bool ended() const { return ended_; }
  /// Whether answers are held back: then our own clock tells the time between them.
  [[nodiscard]] bool held() const { return held_; }
  /// Our own time: of the last answer, and what passed since.
  [[nodiscard]] std::int64_t now() const;

 private:
  bool connect_to(const TcpAddress& address, std::string& why);
  bool shake_hands(const TcpAddress& address, std::uint64_t& session, std::string& why);
  bool read_greeting(const TcpAddress& address, wire::Greeting& greeting, std::string& why);
  bool say_ended(protocol::Exchange& exchange) const;
  bool receive_answer(wire::Answer& answer, std::string& why);
  bool send_frame(std::size_t head, const void* payload, std::size_t size);
  /// The next frame, opened; nothing: the connection is gone, or what came is not authentic.
  std::optional<std::span<const std::byte>> receive_frame();
  bool fill(std::size_t bytes);
  bool answer_ping(std::span<const std::byte> frame);
  bool lost(std::string& why, const char* what);
  [[nodiscard]] std::size_t front() const { return 4 + (sealed_ ? 8 : 0); }

  int socket_ = -1;
  bool held_ = true;
  bool sealed_ = false;
  bool ended_ = false;
  Key16 to_server_{}, to_client_{};
  std::uint64_t sent_number_ = 0, received_number_ = 0;
  std::int64_t arrived_ = 0;   // our clock when the last bytes were here
  std::int64_t received_ = 0;  // and when the last answer was
  std::int64_t answered_ = 0;  // its time
  std::vector<std::byte> out_ = std::vector<std::byte>(4096);
  std::vector<std::byte> in_ = std::vector<std::byte>(64 * 1024);
  std::size_t in_begin_ = 0, in_end_ = 0;
};

}  // namespace isochron::client
