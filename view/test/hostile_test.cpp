// Pages, scripts and strangers that say what nobody expects: each is answered or shown out, and the run goes on.

#include <gtest/gtest.h>
#include <time.h>
#include <unistd.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <mutex>
#include <thread>

#include "core/contained.hpp"
#include "core/foreign_text.hpp"
#include "view/foxglove.hpp"
#include "view/live_page.hpp"
#include "view/web_server.hpp"

namespace isochron::view {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using tcp = asio::ip::tcp;

class Deaf final : public Peer {
 public:
  void send_text(std::string text, std::uint64_t) override {
    const std::lock_guard guard(lock_);
    texts_.push_back(std::move(text));
  }
  void send_binary(std::string, std::uint64_t) override {}
  [[nodiscard]] std::size_t queued() const override { return 0; }
  [[nodiscard]] std::vector<std::string> texts() {
    const std::lock_guard guard(lock_);
    return texts_;
  }

 private:
  std::mutex lock_;
  std::vector<std::string> texts_;
};

const std::vector<std::string> messages = {
    R"({"op":5})",
    R"({"op":null})",
    R"({"op":["subscribe"]})",
    R"({"op":"subscribe"})",
    R"({"op":"subscribe","subscriptions":7})",
    R"({"op":"subscribe","subscriptions":[7,{"id":-1},{"id":1e300,"channelId":0},{"id":1,"channelId":-0.5}]})",
    R"({"op":"subscribe","subscriptions":[{"id":1,"channelId":0},{"id":1,"channelId":18446744073709551615}]})",
    R"({"op":"unsubscribe","subscriptionIds":{"a":1}})",
    R"({"op":"unsubscribe","subscriptionIds":[1,-1,"x",null,99999999999999999999]})",
    R"({"do":5})",
    R"({"do":"step","count":"many"})",
    R"({"do":"speed","factor":-1e308})",
    R"({"do":"push","body":{},"force":"x","seconds":null})",
    R"({"do":"fault","what":7,"about":[],"seconds":1e400})",
    R"({"do":"plot","topic":3,"field":null})",
    "\xff\xfe",
    "[[[[",
    "",
};

TEST(Hostile, NothingThatAFoxgloveClientOrAPageSaysIsThrownBack) {
  Scenario scenario;
  RunWatch watch;
  LiveSource live(scenario, watch);
  const auto peer = std::make_shared<Deaf>();
  const auto foxglove = open_foxglove(live, peer);
  LivePage page(live, std::make_shared<Deaf>());
  for (const std::string& message : messages) {
    EXPECT_NO_THROW(foxglove->received(message, false)) << message;
    EXPECT_NO_THROW(page.received(message, false)) << message;
    EXPECT_NO_THROW(foxglove->received(message, true)) << message;
  }
  for (const std::string& text : peer->texts()) EXPECT_EQ(first_bad_byte(text), std::string::npos);
}

/// A handler in which everything goes wrong, but for /fine.
class Clumsy final : public WebHandler {
 public:
  WebResponse get(const WebRequest& request) override {
    if (request.path != "/fine") throw std::runtime_error("a question that nobody thought of");
    return {200, "text/plain", "fine"};
  }
  std::unique_ptr<Session> open(const WebRequest& request, const std::vector<std::string>&, std::string&,
                                std::shared_ptr<Peer>) override {
    if (request.path == "/door") throw std::runtime_error("a door that jams");
    struct Throws final : Session {
      void received(std::string_view, bool) override { throw 7; }
    };
    return std::make_unique<Throws>();
  }
};

class Served : public testing::Test {
 protected:
  void SetUp() override {
    testing::internal::CaptureStderr();
    auto started = WebServer::start(handler_, 0, "secret");
    ASSERT_TRUE(started.ok()) << started.error();
    server_ = std::move(started).value();
  }
  void TearDown() override {
    server_.reset();
    testing::internal::GetCapturedStderr();
  }
  tcp::socket connected() {
    tcp::socket socket(io_);
    socket.connect({asio::ip::address_v4::loopback(), server_->port()});
    return socket;
  }
  std::string answer_to(const std::string& request) {
    tcp::socket socket = connected();
    boost::system::error_code cut;  // it may hang up before it heard the end
    asio::write(socket, asio::buffer(request), cut);
    std::string answer;
    boost::system::error_code ended;
    asio::read(socket, asio::dynamic_buffer(answer), ended);
    return answer;
  }
  std::string get(const std::string& path) {
    return answer_to("GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  }
  bool is_fine() { return get("/secret/fine").starts_with("HTTP/1.1 200"); }

  asio::io_context io_;
  Clumsy handler_;
  std::unique_ptr<WebServer> server_;
};

TEST_F(Served, AQuestionThatThrowsIsAnsweredWith500AndTheNextIsServed) {
  EXPECT_TRUE(get("/secret/else").starts_with("HTTP/1.1 500"));
  EXPECT_TRUE(is_fine());
}

TEST_F(Served, AMessageThatThrowsClosesItsSocketAndNothingElse) {
  for (const char* path : {"/secret/live", "/secret/door"}) {
    beast::websocket::stream<tcp::socket> socket(connected());
    boost::system::error_code error;
    socket.handshake("127.0.0.1", path, error);
    if (!error) socket.write(asio::buffer(std::string("x")), error);
    beast::flat_buffer buffer;
    if (!error) socket.read(buffer, error);
    EXPECT_TRUE(error);
    EXPECT_TRUE(is_fine());
  }
}

TEST_F(Served, APathShorterThanTheTokenIsRefused) {
  for (const char* path : {"/", "/s", "/secre", "/secretx", "/secret2/fine", "*", "/%00"}) {
    EXPECT_TRUE(get(path).starts_with("HTTP/1.1 403")) << path;
  }
}

TEST_F(Served, BrokenRequestsHurtNobody) {
  for (const std::string request : {"\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\xff\xff\xff\xff\r\n\r\n"}) {
    (void)answer_to(request);
    EXPECT_TRUE(is_fine());
  }
  (void)answer_to("GET /" + std::string(100'000, 'a') + " HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(is_fine());
}

TEST_F(Served, IdleConnectionsDoNotLockAnybodyOut) {
  std::vector<tcp::socket> idle;
  for (int i = 0; i < 200; ++i) idle.push_back(connected());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(is_fine());
}

double executed_s() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

TEST_F(Served, WithoutDescriptorsItRestsAndGoesOnWhenThereAreSome) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UndefinedBehaviorSanitizer needs descriptors of its own to check a virtual call";
#endif
  tcp::socket caller(io_);
  caller.open(tcp::v4());
  std::vector<int> all;
  for (int fd = dup(0); fd >= 0 && all.size() < 100'000; fd = dup(0)) all.push_back(fd);
  if (all.size() == 100'000) {
    for (const int fd : all) close(fd);
    GTEST_SKIP() << "needs a limit on open files";
  }
  caller.connect({asio::ip::address_v4::loopback(), server_->port()});
  const double before = executed_s();
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  const double spent = executed_s() - before;
  for (const int fd : all) close(fd);
  EXPECT_LT(spent, 0.3) << "it asks again and again";
  EXPECT_TRUE(is_fine());
}

TEST(WebTarget, TheTokenIsTakenOffThePath) {
  WebRequest request{.path = "/tok/api"};
  EXPECT_TRUE(take_token(request, "tok"));
  EXPECT_EQ(request.path, "/api");
  for (const char* path : {"", "/", "/t", "/to", "/tokk", "tok", "/TOK/api"}) {
    WebRequest other{.path = path};
    EXPECT_FALSE(take_token(other, "tok")) << path;
  }
}

}  // namespace
}  // namespace isochron::view
