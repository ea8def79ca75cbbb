#include "v2x/comm/client.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/foreign_text.hpp"
#include "v2x/comm/server.hpp"
#include "v2x/comm/wire.hpp"

namespace isochron::v2x {
namespace {

constexpr WallSpan retry = std::chrono::seconds(1), answer_within = std::chrono::seconds(5);
constexpr WallSpan look = std::chrono::milliseconds(50);  // for a stop

}  // namespace

CommClient::CommClient(const link::Key& key, const Address& server, std::string name)
    : key_(key), server_(server), name_(std::move(name)) {}

CommClient::~CommClient() = default;

void CommClient::connect() {
  tried_ = reactor_.now();
  state_ = State::proving;
  answered_challenge_ = false;
  reader_ = link::FrameReader(largest_exchange);
  responder_.emplace(key_, comm_context);
  stream_ = reactor_.connect(server_);
  stream_->set_events({[this](std::span<const std::byte> bytes) { hear(bytes); },
                       {},
                       [this](const NetError& error) { close(error.what); }});
}

void CommClient::close(const std::string& why) {
  trouble_ = why;
  state_ = State::away;
  stream_.reset();
  reactor_.stop();
}

void CommClient::hear(std::span<const std::byte> bytes) {
  bool sane = true;
  const auto taken = reader_.take(bytes, [&](std::span<const std::byte> frame) {
    sane = take(frame);
    return sane;
  });
  if (!sane || !taken.ok()) close(failure_.empty() ? "the server speaks another language" : failure_);
}

bool CommClient::take(std::span<const std::byte> frame) {
  if (state_ == State::inside) {
    const auto opened = opener_->open(frame);
    if (!opened) return false;
    auto news = cdr_read<AirNews>(opened->payload);
    if (!news) return false;
    news_ = std::move(news).value();
    reactor_.stop();
    return true;
  }
  if (frame.size() >= 3 && std::memcmp(frame.data(), "no:", 3) == 0) {
    const std::string_view words(reinterpret_cast<const char*>(frame.data()), frame.size());
    failure_ = foreign_text(words.substr(std::min<std::size_t>(4, words.size())), 400);
    return false;
  }
  if (frame.size() != sizeof(link::Nonce)) return false;
  if (!answered_challenge_) {
    answered_challenge_ = true;
    link::Nonce nonce;
    std::memcpy(nonce.data(), frame.data(), nonce.size());
    const link::Answer answer = responder_->answer(nonce);
    std::vector<std::byte> hello(answer.nonce.begin(), answer.nonce.end());
    hello.insert(hello.end(), answer.proof.begin(), answer.proof.end());
    const auto name = text_bytes(name_);
    hello.insert(hello.end(), name.begin(), name.end());
    send_frame(*stream_, hello);
    return true;
  }
  link::Proof proof;
  std::memcpy(proof.data(), frame.data(), proof.size());
  const auto keys = responder_->accept(proof);
  if (!keys) {
    failure_ = "the server does not hold the key";
    return false;
  }
  sealer_.emplace(keys->to_server);
  opener_.emplace(keys->to_client);
  state_ = State::inside;
  reactor_.stop();
  return true;
}

/// Runs the network until `done`, at most for so long; whether it is done.
bool CommClient::run_until(bool (CommClient::*done)() const, WallSpan limit) {
  const WallTime end = reactor_.now() + limit;
  while (!(this->*done)() && !stop_.load() && reactor_.now() < end) {
    const auto timer = reactor_.call_at(std::min(end, reactor_.now() + look), [this] { reactor_.stop(); });
    reactor_.run();
    reactor_.cancel(timer);
  }
  return (this->*done)();
}

std::string CommClient::join(WallSpan limit) {
  const WallTime end = reactor_.now() + limit;
  while (!stop_.load()) {
    connect();
    run_until(&CommClient::settled, end - reactor_.now());
    if (state_ == State::inside) return "";
    if (!failure_.empty()) return failure_;
    if (reactor_.now() >= end) break;
    run_until(&CommClient::answered_never, std::min(WallSpan(std::chrono::milliseconds(200)), end - reactor_.now()));
  }
  return trouble_.empty() ? "no answer" : trouble_;
}

std::optional<AirNews> CommClient::exchange(const AirUp& up) {
  if (state_ != State::inside && failure_.empty() && reactor_.now() - tried_ >= retry) {
    connect();
    run_until(&CommClient::settled, retry);
  }
  if (state_ == State::inside) {
    news_.reset();
    send_sealed(*stream_, *sealer_, up);
    if (run_until(&CommClient::answered, answer_within) && news_) return std::exchange(news_, std::nullopt);
    if (state_ == State::inside && !stop_.load()) close("no answer within 5 s");
  }
  ++missed_;
  return std::nullopt;
}

}  // namespace isochron::v2x
