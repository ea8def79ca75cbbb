#include "view/web_server.hpp"

#include <sys/random.h>

#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <thread>

#include "core/contained.hpp"
#include "view/outbox.hpp"

namespace isochron::view {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = asio::ip::tcp;
using boost::system::error_code;
using GetRequest = http::request<http::empty_body>;

constexpr std::size_t connections_max = 64;
constexpr std::size_t received_max = 1U << 20U;  // of one message to us
constexpr auto strangers_may_idle = std::chrono::seconds(10), known_may_idle = std::chrono::seconds(120);

std::string random_token() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return "";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4U];
    text += "0123456789abcdef"[byte & 15U];
  }
  return text;
}

std::vector<std::string> split_protocols(std::string_view list) {
  std::vector<std::string> all;
  for (const auto word : http::token_list(beast::string_view(list.data(), list.size()))) all.emplace_back(word);
  return all;
}

class Server;

/// One WebSocket. It lives until its socket is closed and nobody holds it as a Peer any more.
class Socket final : public Peer, public std::enable_shared_from_this<Socket> {
 public:
  Socket(std::shared_ptr<asio::io_context> io, tcp::socket&& socket)
      : io_(std::move(io)), stream_(std::move(socket)), outbox_(queue_limit) {}

  void send_text(std::string text, std::uint64_t key) override { put({std::move(text), false, key}); }
  void send_binary(std::string bytes, std::uint64_t key) override { put({std::move(bytes), true, key}); }
  [[nodiscard]] std::size_t queued() const override { return outbox_.bytes(); }

  void accept(const GetRequest& request, const std::string& protocol, std::unique_ptr<Session> session) {
    session_ = std::move(session);
    stream_.set_option(websocket::stream_base::decorator([protocol](websocket::response_type& response) {
      if (!protocol.empty()) response.set(http::field::sec_websocket_protocol, protocol);
    }));
    auto timeouts = websocket::stream_base::timeout::suggested(beast::role_type::server);
    timeouts.idle_timeout = websocket::stream_base::none();  // a page in a sleeping tab is still welcome
    timeouts.keep_alive_pings = false;
    stream_.set_option(timeouts);
    stream_.read_message_max(received_max);
    stream_.async_accept(request, [self = shared_from_this()](error_code error) {
      if (error) return self->close();
      self->accepted_ = true;
      self->write_next();
      self->read_next();
    });
  }
  void shut() {
    error_code ignored;
    beast::get_lowest_layer(stream_).socket().close(ignored);
  }

 private:
  void put(Outbox::Item item) {
    if (closed_.load(std::memory_order_relaxed)) return;
    if (!outbox_.put(std::move(item))) return;
    asio::post(stream_.get_executor(), [self = shared_from_this()] { self->write_next(); });
  }
  void write_next() {
    if (writing_ || !accepted_ || closed_) return;
    auto item = outbox_.take();
    if (!item) return;
    writing_ = true;
    sending_ = std::move(item->bytes);
    stream_.binary(item->binary);
    stream_.async_write(asio::buffer(sending_), [self = shared_from_this()](error_code error, std::size_t) {
      self->writing_ = false;
      if (error) return self->close();
      self->write_next();
    });
  }
  void read_next() {
    stream_.async_read(received_, [self = shared_from_this()](error_code error, std::size_t) {
      if (error) return self->close();
      const std::string text = beast::buffers_to_string(self->received_.data());
      self->received_.consume(self->received_.size());
      const bool taken = !self->session_ || contained("a page's message", [&] {
        self->session_->received(text, self->stream_.got_binary());
      });
      taken ? self->read_next() : self->close();
    });
  }
  void close() {
    closed_ = true;
    session_.reset();
    shut();
  }

  std::shared_ptr<asio::io_context> io_;  // a Peer may outlive its server
  websocket::stream<beast::tcp_stream> stream_;
  Outbox outbox_;
  std::unique_ptr<Session> session_;
  beast::flat_buffer received_;
  std::string sending_;
  bool writing_ = false;
  bool accepted_ = false;
  std::atomic<bool> closed_{false};
};

class Server final : public WebServer {
 public:
  Server(WebHandler& handler, std::string token)
      : handler_(handler), token_(std::move(token)), acceptor_(*io_), pause_(*io_), workers_(2) {}
  /// With everything closed the socket thread runs out of work and ends by itself.
  ~Server() override {
    asio::post(*io_, [this] { close_all(); });
    workers_.join();
    if (thread_.joinable()) thread_.join();
  }

  Result<Done, std::string> listen(std::uint16_t port) {
    error_code error;
    const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return fail("port " + std::to_string(port) + " cannot be served: " + error.message());
    port_ = acceptor_.local_endpoint().port();
    accept_next();
    thread_ = std::thread([this] { contained_until_done("the page's sockets", [this] { io_->run(); }); });
    return done();
  }

  [[nodiscard]] std::string address() const override {
    return "http://127.0.0.1:" + std::to_string(port_) + "/" + token_ + "/";
  }
  [[nodiscard]] std::uint16_t port() const override { return port_; }
  [[nodiscard]] const std::string& token() const override { return token_; }

 private:
  class Connection;

  void accept_next() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (!error) contained("a page's connection", [&] { serve(std::move(socket)); });
      error ? accept_later() : accept_next();
    });
  }
  /// No descriptors, most likely: asking again at once would keep a core busy.
  void accept_later() {
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([this](error_code) {
      if (acceptor_.is_open()) accept_next();
    });
  }
  void serve(tcp::socket&& socket);
  void make_room();
  void close_all();
  void remember(const std::shared_ptr<Socket>& socket) {
    std::erase_if(sockets_, [](const std::weak_ptr<Socket>& old) { return old.expired(); });
    sockets_.push_back(socket);
  }
  /// "" when the request is for us; otherwise why it is refused.
  [[nodiscard]] std::string refusal(const GetRequest& request, WebRequest& parsed) const {
    const std::string host(request[http::field::host]);
    const std::string name = host.substr(0, host.rfind(':'));
    if (name != "127.0.0.1" && name != "localhost") return "this server answers to 127.0.0.1 only";
    if (!take_token(parsed, token_)) return "the address lacks the token that `isochron` printed";
    return "";
  }

  WebHandler& handler_;
  std::string token_;
  std::uint16_t port_ = 0;
  std::shared_ptr<asio::io_context> io_ = std::make_shared<asio::io_context>(1);
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  asio::thread_pool workers_;
  std::vector<std::weak_ptr<Connection>> connections_;
  std::vector<std::weak_ptr<Socket>> sockets_;
  std::thread thread_;
};

/// One HTTP connection, kept open for as many requests as come.
class Server::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Server& server, tcp::socket&& socket) : server_(server), stream_(std::move(socket)) {}
  void shut() { stream_.close(); }

  void read_next() {
    request_ = {};
    idle_ = true;
    stream_.expires_after(known_ ? known_may_idle : strangers_may_idle);
    http::async_read(stream_, buffer_, request_, [self = shared_from_this()](error_code error, std::size_t) {
      if (!error && !contained("a page's request", [&] { self->handle(); })) self->shut();
    });
  }
  /// Whether it has shown the token; and whether it waits for its next request.
  [[nodiscard]] bool known() const { return known_; }
  [[nodiscard]] bool idle() const { return idle_; }

 private:
  void handle() {
    idle_ = false;
    const beast::string_view target = request_.target();
    WebRequest parsed = parse_target({target.data(), target.size()});
    if (const std::string why = server_.refusal(request_, parsed); !why.empty())
      return answer({403, "text/plain", why + "\n"});
    known_ = true;
    if (websocket::is_upgrade(request_)) return upgrade(parsed);
    if (request_.method() != http::verb::get && request_.method() != http::verb::head)
      return answer({405, "text/plain", "GET only\n"});
    if (parsed.path.empty()) return answer({308, "text/plain", "/" + server_.token_ + "/"});  // so that ./ works
    asio::post(server_.workers_, [self = shared_from_this(), parsed] {
      WebResponse response{500, "text/plain", "this question cannot be answered\n"};
      contained("a page's question", [&] { response = self->server_.handler_.get(parsed); });
      asio::post(self->stream_.get_executor(),
                 [self, response = std::move(response)]() mutable { self->answer(std::move(response)); });
    });
  }
  void upgrade(const WebRequest& parsed) {
    stream_.expires_never();
    auto socket = std::make_shared<Socket>(server_.io_, stream_.release_socket());
    const beast::string_view offered = request_[http::field::sec_websocket_protocol];
    std::string chosen;
    auto session = server_.handler_.open(parsed, split_protocols({offered.data(), offered.size()}), chosen, socket);
    if (session == nullptr) return socket->shut();
    server_.remember(socket);
    socket->accept(request_, chosen, std::move(session));
  }
  void answer(WebResponse&& from) {
    response_ = {};
    response_.version(request_.version());
    response_.result(static_cast<unsigned>(from.status));
    response_.keep_alive(request_.keep_alive());
    if (from.status == 308) response_.set(http::field::location, from.body);
    response_.set(http::field::content_type, from.type);
    response_.set(http::field::cache_control, "no-store");
    // The page may talk to this server and to nobody else.
    response_.set(
        "Content-Security-Policy",
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self' "
        "ws://127.0.0.1:* ws://localhost:*; frame-ancestors 'none'");
    response_.set("X-Content-Type-Options", "nosniff");
    response_.set("Referrer-Policy", "no-referrer");
    response_.body() = std::move(from.body);
    response_.prepare_payload();
    if (request_.method() == http::verb::head) response_.body().clear();
    http::async_write(stream_, response_, [self = shared_from_this()](error_code error, std::size_t) {
      if (!error && self->response_.keep_alive()) self->read_next();
    });
  }

  Server& server_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{64U << 10U};
  GetRequest request_;
  http::response<http::string_body> response_;
  bool known_ = false;
  bool idle_ = false;
};

void Server::serve(tcp::socket&& socket) {
  std::erase_if(connections_, [](const std::weak_ptr<Connection>& old) { return old.expired(); });
  if (connections_.size() >= connections_max) make_room();
  if (connections_.size() >= connections_max) return;
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  auto connection = std::make_shared<Connection>(*this, std::move(socket));
  connections_.push_back(connection);
  connection->read_next();
}

/// The oldest that has not shown the token gives way; if all have, the oldest that asks nothing just now.
void Server::make_room() {
  for (const bool known : {false, true}) {
    for (auto at = connections_.begin(); at != connections_.end(); ++at) {
      const auto alive = at->lock();
      if (!alive || alive->known() != known || (known && !alive->idle())) continue;
      alive->shut();
      connections_.erase(at);
      return;
    }
  }
}

void Server::close_all() {
  error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  for (const auto& socket : sockets_) {
    if (const auto alive = socket.lock()) alive->shut();
  }
  for (const auto& connection : connections_) {
    if (const auto alive = connection.lock()) alive->shut();
  }
}

}  // namespace

Result<std::unique_ptr<WebServer>, std::string> WebServer::start(WebHandler& handler, std::uint16_t port,
                                                                 std::string token) {
  if (token.empty()) token = random_token();
  if (token.empty()) return fail(std::string("the system gives no random numbers for a token"));
  auto server = std::make_unique<Server>(handler, std::move(token));
  if (auto listening = server->listen(port); !listening.ok()) return fail(listening.error());
  return std::unique_ptr<WebServer>(std::move(server));
}

}  // namespace isochron::view
