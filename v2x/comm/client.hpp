#pragma once
// A client's end of the communication server. It asks once a heartbeat and waits for the answer: what the radio
// delivered meanwhile.
//
// Threads: owner thread; stop() from any.
// Fails:   a server that is gone is looked for again, at most once a second; until it is back nobody hears anything,
//          and that is counted. One that refuses (a wrong key) ends it: failure() says why.

#include <atomic>
#include <optional>
#include <string>

#include "link/auth.hpp"
#include "link/frame.hpp"
#include "link/reactor.hpp"
#include "v2x/comm/messages.hpp"

namespace isochron::v2x {

class CommClient {
 public:
  CommClient(const link::Key& key, const Address& server, std::string name);
  ~CommClient();
  CommClient(const CommClient&) = delete;
  CommClient& operator=(const CommClient&) = delete;

  /// Waits until the server has let it in, at most for `limit`; "" = it has, else why not.
  [[nodiscard]] std::string join(WallSpan limit);
  /// What was heard; nothing while the server is gone.
  std::optional<AirNews> exchange(const AirUp& up);
  void stop() noexcept { stop_.store(true); }

  [[nodiscard]] const std::string& failure() const { return failure_; }
  [[nodiscard]] std::uint64_t missed() const { return missed_; }  // heartbeats without an answer

 private:
  enum class State { away, proving, inside };
  void connect();
  void close(const std::string& why);
  void hear(std::span<const std::byte> bytes);
  bool take(std::span<const std::byte> frame);
  bool run_until(bool (CommClient::*done)() const, WallSpan limit);
  [[nodiscard]] bool settled() const { return state_ == State::inside || !failure_.empty() || state_ == State::away; }
  [[nodiscard]] bool answered_never() const { return false; }
  [[nodiscard]] bool answered() const { return news_.has_value() || state_ != State::inside; }

  link::Key key_;
  Address server_;
  std::string name_;
  link::EpollReactor reactor_;
  std::unique_ptr<Stream> stream_;
  State state_ = State::away;
  link::FrameReader reader_{16U << 20U};
  std::optional<link::Responder> responder_;
  bool answered_challenge_ = false;
  std::optional<link::Sealer> sealer_;
  std::optional<link::Opener> opener_;
  std::optional<AirNews> news_;
  WallTime tried_ = WallTime::zero();
  std::string failure_, trouble_;
  std::uint64_t missed_ = 0;
  std::atomic<bool> stop_{false};
};

}  // namespace isochron::v2x
