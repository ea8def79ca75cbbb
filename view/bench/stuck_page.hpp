#pragma once
// A page that asks for everything and reads nothing: the worst that a browser can do to a run.

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace isochron::bench {

class StuckPage {
 public:
  /// "http://127.0.0.1:PORT/TOKEN/"
  explicit StuckPage(const std::string& address) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const auto port_at = address.rfind(':') + 1;
    const auto slash = address.find('/', port_at);
    const std::string port = address.substr(port_at, slash - port_at);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int little = 4096;
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return;
    say("GET " + address.substr(slash) + "live HTTP/1.1\r\nHost: 127.0.0.1:" + port +
        "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n");
    char answer[1024];
    (void)!::recv(socket_, answer, sizeof answer, 0);
    const std::string wish = R"({"do": "plot", "topic": "/world/state", "field": "bodies[13]"})";
    say(std::string{'\x81', static_cast<char>(0x80U | wish.size()), 0, 0, 0, 0} + wish);  // masked with zeros
  }
  ~StuckPage() {
    if (socket_ >= 0) ::close(socket_);
  }
  StuckPage(StuckPage&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  StuckPage& operator=(StuckPage&&) = delete;

 private:
  void say(const std::string& text) const { (void)!::send(socket_, text.data(), text.size(), MSG_NOSIGNAL); }
  int socket_;
};

}  // namespace isochron::bench
