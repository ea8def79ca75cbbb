#pragma once
// A run that is under way, for those who look at it and steer it. A thread of its own looks at the tap some sixty times
// a second and tells every open page what changed: where bodies are, how far each participant has come, new values of
// the plots that it asked for, and who waits for whom when nothing moves.
//
//     page -> what view/wish.hpp lists, and {"do": "plot" | "unplot", "topic": …, "field": …}
//     page <- {"type": "status", …}   {"type": "samples", …}   and binary frames as of FrameWriter, one frame each
//
// Promises: the run never waits for a page; a page that is slow misses pictures, not the newest one.
// Requires: outlives the run, whose journal has tap(), and the web server.
// Threads:  any.

#include <memory>
#include <thread>

#include "journal/names.hpp"
#include "run/run.hpp"
#include "view/live_tap.hpp"
#include "view/run_source.hpp"
#include "view/web_server.hpp"

namespace isochron::view {

/// Someone who gets every record that he asked for, as Foxglove does.
class LiveListener {
 public:
  virtual ~LiveListener() = default;
  virtual void channels(std::size_t first, const std::vector<ChannelDefinition>& added) = 0;
  virtual void record(const LiveRecord& record) = 0;
  virtual void now(SimTime time) = 0;
};

class LivePage;

class LiveSource final : public RunSource {
 public:
  LiveSource(const Scenario& scenario, RunWatch& watch);
  ~LiveSource() override;

  [[nodiscard]] LiveTap& tap() { return tap_; }
  [[nodiscard]] RunWatch& watch() { return watch_; }
  [[nodiscard]] std::optional<std::size_t> channel_of(const std::string& topic) const;
  /// What the numbers of the run are called, as far as they are known by now.
  [[nodiscard]] Names names();
  /// The run has ended; pages are told to load it as a recorded one.
  void ended(const RunReport& report);

  Answer about() override;
  Answer frames(Window window, SimSpan step) override;
  Answer series(const std::string& topic, const std::string& field, Window window, std::size_t points) override;
  Answer latest(const std::string& topic, SimTime at) override;
  Answer schema(const std::string& topic) override;
  Answer fields(const std::string& topic) override;
  Answer events(Window window) override;

  /// Does what a script wants (view/wish.hpp). A step is answered when it has been taken and is recorded.
  Answer obey(const std::string& wish);

  /// For one page's WebSocket.
  std::unique_ptr<Session> open(std::shared_ptr<Peer> peer);
  void join(LivePage& page);
  void leave(LivePage& page);
  void join(LiveListener& listener);
  void leave(LiveListener& listener);
  /// Listeners hear a channel's records while somebody follows it.
  void follow(std::size_t channel) { tap_.follow(channel); }
  void unfollow(std::size_t channel) { tap_.unfollow(channel); }

 private:
  struct Pages;
  void tick_until_stopped();
  void tick();
  void notice_channels();
  bool look_at_bodies();
  [[nodiscard]] std::string status() const;
  void remember_events(const std::deque<LiveRecord>& records);
  Answer await_steps();

  std::string scenario_name_, mode_, seed_, text_;
  std::vector<std::string> programs_, sensors_, robots_;  // what can be broken
  SimSpan duration_;
  RunWatch& watch_;
  LiveTap tap_;
  std::unique_ptr<Pages> pages_;
  std::atomic<bool> stop_{false}, ended_{false};
  std::atomic<bool> awaiting_{false};  // somebody waits for steps: one at a time, so that others are still answered
  std::thread thread_;
};

}  // namespace isochron::view
