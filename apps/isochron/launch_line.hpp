#pragma once
// The line between `launch` and a node that it started, here or behind a remote shell: what the launcher has to say
// comes on the node's standard input, what the node has to say goes among its complaints. It is text, a word and what
// it is about on each line; those of a node begin with a number that is drawn for the launch, so that nothing that a
// node prints is taken for one.
//
//     launcher ──► node    again LIFE ADDRESS NAME │ lost NAME│WHY │ over          the end of input: stop
//     node ──► launcher    NUMBER began │ NUMBER finished │ NUMBER missing NAME
//
// Threads: LaunchLine has one of its own that reads; the rest is the owner's. What is no such line is passed over.

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "run/rendezvous.hpp"
#include "run/run.hpp"

namespace isochron::app {

/// What a node learns at its start, as text in ISOCHRON_LAUNCH.
struct LaunchTerms {
  std::string number;  // of the launch
  std::uint32_t life = 0;
  WallSpan behind;
};
std::string to_text(const LaunchTerms& terms);
std::optional<LaunchTerms> read_launch_terms(const std::string& text);

std::string line_again(const Rendezvous::Again& again);
std::string line_given_up(const Rendezvous::GivenUp& lost);
std::string line_over();
/// Adds what a line says.
void read_launcher_line(const std::string& line, Rendezvous::News& news);

struct NodeWord {
  enum class What { began, finished, missing } what = What::began;
  std::string node = {};  // that is missing
};
/// Takes it out of the line; what stays is for people. Nothing if there is none.
std::optional<NodeWord> take_node_word(std::string& line, const std::string& number);

/// The node's end.
class LaunchLine final : public Rendezvous {
 public:
  /// Reads standard input from now on, and stops the run, as Ctrl-C does, when it ends: whoever started it from afar
  /// wants that, or is gone.
  LaunchLine(RunWatch& watch, LaunchTerms terms);
  ~LaunchLine() override;
  LaunchLine(const LaunchLine&) = delete;
  LaunchLine& operator=(const LaunchLine&) = delete;

  News take() override;
  void began() override { say_word("began"); }
  void finished() override { say_word("finished"); }
  void missing(const std::string& node) override { say_word("missing " + node); }
  [[nodiscard]] std::uint32_t life() const override { return terms_.life; }
  [[nodiscard]] WallSpan behind() const override { return terms_.behind; }

 private:
  void listen(RunWatch& watch);
  void say_word(const std::string& word) const;

  LaunchTerms terms_;
  std::mutex mutex_;
  News news_;
  std::atomic<bool> any_{false};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace isochron::app
