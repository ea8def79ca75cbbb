// Whatever a browser, a script or a Foxglove client may send: request lines, wishes and messages. The first byte
// chooses which. Nothing is thrown, and what goes back is text.

#include <boost/beast/http.hpp>
#include <cstdlib>

#include "core/foreign_text.hpp"
#include "view/foxglove.hpp"
#include "view/live_page.hpp"
#include "view/wish.hpp"

namespace {

using namespace isochron;
using namespace isochron::view;
namespace http = boost::beast::http;

void demand(bool so) {
  if (!so) std::abort();
}

class Checked final : public Peer {
 public:
  void send_text(std::string text, std::uint64_t) override { demand(first_bad_byte(text) == std::string::npos); }
  void send_binary(std::string, std::uint64_t) override {}
  [[nodiscard]] std::size_t queued() const override { return 0; }
};

/// A run that never moves, for as long as the fuzzer runs: its thread would cost more than the messages.
struct Stage {
  Scenario scenario;
  RunWatch watch;
  LiveSource live{scenario, watch};
};

void request(std::string_view bytes) {
  http::request_parser<http::empty_body> parser;
  boost::system::error_code error;
  parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  const auto target = error ? boost::beast::string_view(bytes.data(), bytes.size()) : parser.get().target();
  WebRequest parsed = parse_target({target.data(), target.size()});
  const std::string before = parsed.path;
  if (take_token(parsed, "token")) demand(before == "/token" + parsed.path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static Stage& stage = *new Stage;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto peer = std::make_shared<Checked>();
  switch (data[0] % 4) {
    case 0:
      request(bytes);
      break;
    case 1:
      (void)grant(bytes, stage.watch);
      break;
    case 2:
      open_foxglove(stage.live, peer)->received(bytes, (data[0] & 0x80U) != 0);
      break;
    default:
      LivePage(stage.live, peer).received(bytes, (data[0] & 0x80U) != 0);
  }
  for (const Mark& mark : stage.watch.control().take(SimTime::never())) {
    demand(first_bad_byte(mark.about) == std::string::npos);
  }
  return 0;
}
