#pragma once
// A small web server for one person at one machine: HTTP GET and WebSockets on one port of the loopback interface. The
// address has a secret word in it, `http://127.0.0.1:PORT/TOKEN/`; who does not know it gets 403, whatever else is
// asked. Requests that name another host are refused too, so that no page of the web can reach it through a name that
// resolves to this machine.
//
//     Handler::get()     answers a GET, on a worker thread          "/api/about"  ->  JSON
//     Handler::open()    a WebSocket wants to be served             ->  a Session, told what is received
//     Peer::send()       from any thread, never blocks              ->  queue of that socket, drop-old
//
// Promises: a peer that does not read costs at most Peer::queue_limit bytes and nobody's time: what is queued under a
//           key is replaced by what comes later under it, and when the queue is full the oldest go first.
// Requires: the handler outlives the server.
// Threads:  one thread of its own for the sockets, two for get(). Session calls come from the socket thread.
// Fails:    start() when the port is taken.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace isochron::view {

struct WebRequest {
  std::string path;  // without the token: "/", "/api/about"
  std::map<std::string, std::string> query;
};

struct WebResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
};

/// One open WebSocket, for sending.
class Peer {
 public:
  static constexpr std::size_t queue_limit = 16U << 20U;

  virtual ~Peer() = default;
  /// `key` not 0: takes the place of what is still queued under that key.
  virtual void send_text(std::string text, std::uint64_t key = 0) = 0;
  virtual void send_binary(std::string bytes, std::uint64_t key = 0) = 0;
  /// Bytes that wait to be sent.
  [[nodiscard]] virtual std::size_t queued() const = 0;
};

/// What a WebSocket talks to; destroyed when it closes.
class Session {
 public:
  virtual ~Session() = default;
  virtual void received(std::string_view bytes, bool binary) = 0;
};

class WebHandler {
 public:
  virtual ~WebHandler() = default;
  virtual WebResponse get(const WebRequest& request) = 0;
  /// `offered` are the subprotocols that the client speaks; put the chosen one into `chosen`. Null: refused. The peer
  /// may be kept; it goes on taking (and forgetting) messages after its socket has closed.
  virtual std::unique_ptr<Session> open(const WebRequest& request, const std::vector<std::string>& offered,
                                        std::string& chosen, std::shared_ptr<Peer> peer) = 0;
};

class WebServer {
 public:
  /// Port 0: any that is free. `token` "": a random one.
  static Result<std::unique_ptr<WebServer>, std::string> start(WebHandler& handler, std::uint16_t port,
                                                               std::string token = "");
  virtual ~WebServer() = default;  // closes every socket

  /// "http://127.0.0.1:8765/0123…/"
  [[nodiscard]] virtual std::string address() const = 0;
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  [[nodiscard]] virtual const std::string& token() const = 0;
};

/// "/a/b?x=1&y=%20" -> path and query, decoded. Bad escapes are left as they are.
WebRequest parse_target(std::string_view target);
/// Takes the token off the path; false: it is not there.
[[nodiscard]] bool take_token(WebRequest& request, const std::string& token);

}  // namespace isochron::view
