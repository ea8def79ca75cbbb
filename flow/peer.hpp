#pragma once
// One side of a connection between two nodes that do not share memory: it moves messages from this side's channels into
// frames, and frames into this side's arrival channels. Credits keep the sender within the flow's capacity, so that the
// receiver never has to drop anything.
//
// What the other side says is checked against what it promised. A stamp other than the promised one, a period of zero,
// a stamp or promise going back, more messages than there is room for, a line that was not agreed on, a second hello,
// another version or scenario: the peer is fenced off with a sentence that names flow and node. What came before stays.
//
// A stream of bytes to or from the other side may break and begin anew, as often as it likes (restart(), restarted()).
// Nothing is kept for that: a message for which there is no credit yet still lies in its channel. The side that hears
// the new stream says in a resume frame how far it had come, and the other goes on from there.
//
//     stream 1 ──✗    restart(2) ──► hello, credits ──► restarted(2)
//                                ◄── resume 2: line 0 has 17 messages
//                     message 18 …
//
// The other side itself may be lost and begin again from nothing (begins_again()). It then hears everything from the
// first message on, out of the log of what this side has sent (sent_log.hpp), and what it sends once more is dropped up
// to what this side has of it. Both are the same if the other node repeats; that they are is checked.
//
// Requires: greet() first; pump() whenever the node has stepped; arrived() with bytes as they come.
// Threads:  owner thread. Cost: no allocation once buffers have grown; one send for all that a turn produced.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "flow/assembly.hpp"
#include "flow/sent_log.hpp"
#include "flow/transport.hpp"
#include "flow/wire.hpp"

namespace isochron::flow {

/// A number for a whole system: names, ports, kinds, periods. Both sides of a connection must have the same.
std::uint64_t hash_of(const Graph& graph);

class Peer {
 public:
  /// All links of the assembly between nodes `self` and `other`. Line numbers are places in assembly.links(). With a
  /// log of what `self` sends the other may begin again.
  Peer(Assembly& assembly, std::uint32_t self, std::uint32_t other, Transport& transport, SentLog* log = nullptr);

  void greet();
  /// Sends what is new: messages, promises, credits, in one piece.
  void pump();
  /// Takes bytes that came. Fails: why the peer was fenced off; it stays fenced.
  Result<Done, std::string> arrived(std::span<const std::byte> bytes);
  void say_stop(const std::string& reason);
  /// What we sent may not have come: a new stream begins, with this number.
  void restart(std::uint32_t stream);
  /// The other side's stream begins anew; what is left of the old one never comes.
  void restarted(std::uint32_t stream);
  /// The other side was lost and begins from nothing. Requires: a log.
  void begins_again();
  /// Whether the other side knows that it has everything, as far as we can tell.
  [[nodiscard]] bool resumed() const { return awaited_ == 0; }

  /// Of inquiries (floor_inquiry.hpp).
  template <class Frame>
  void say(const Frame& frame) {
    out_.clear();
    wire::append(out_, frame);
    transport_.send(out_);
  }
  [[nodiscard]] std::vector<wire::Ask> take_asks() { return std::exchange(asks_, {}); }
  [[nodiscard]] std::vector<wire::Answer> take_answers() { return std::exchange(answers_, {}); }
  /// Nothing earlier can come from there, whatever was promised.
  void hear_floor(SimTime floor);
  /// Whether a message or event before `stop` can still come; of one line: of the flows between the two.
  [[nodiscard]] bool may_send_before(SimTime stop) const;
  [[nodiscard]] bool may_send_before(SimTime stop, std::uint32_t line) const;
  /// The connection is gone. Says what was lost with it.
  [[nodiscard]] std::string lost() const;

  [[nodiscard]] bool greeted() const { return greeted_; }
  [[nodiscard]] const std::string& name() const { return other_name_; }
  /// The reason the other side gave for stopping, if it did.
  [[nodiscard]] const std::string& stopped() const { return stopped_; }

 private:
  struct Sending {
    std::uint32_t line;
    Assembly::End end;
    std::uint64_t sent = 0;
    std::uint64_t credit = 0;  // of these it has consumed; the channel's reader may be ahead of one that begins again
    SimTime promised;
    std::optional<SentLog::Reader> log = {};  // where one that began again is in it
  };
  struct Receiving {
    std::uint32_t line;
    Channel* channel;
    std::string flow;
    std::uint64_t written = 0;  // messages that came, each counted once
    std::uint64_t arrived = 0;  // since it began again for the last time; less than `written` while it catches up
    std::uint64_t hash = 0, hash_again = 0;  // of these, where there is a log
    std::uint64_t credited = 0;
    SimTime promised;
    SimSpan keeps;  // the period that it must keep; zero = any
    bool again = false;
    SimTime floor = SimTime::before_all();
    [[nodiscard]] SimTime earliest() const { return std::max(promised, floor); }
  };
  Result<Done, std::string> take(const wire::Hello& hello);
  Result<Done, std::string> take(const wire::MessageFrame& message);
  Result<Done, std::string> take(const wire::Bound& bound);
  Result<Done, std::string> take(const wire::Credit& credit);
  Result<Done, std::string> take(const wire::Stop& stop);
  Result<Done, std::string> take(const wire::Ask& ask);
  Result<Done, std::string> take(const wire::Answer& answer);
  Result<Done, std::string> take(const wire::Resume& resume);
  Result<Done, std::string> take_again(Receiving& line, const wire::MessageFrame& message);
  Result<Done, std::string> check_stamp(const Receiving& line, const wire::MessageFrame& message) const;
  Failure<std::string> refuse(const Receiving* line, const std::string& why) const;
  Receiving* receiving(std::uint32_t line);
  void pump(Sending& line);
  void put_again(Sending& line);
  void pump(Receiving& line);
  void put_resume();
  [[nodiscard]] wire::Hello hello(std::uint32_t from) const;

  Assembly& assembly_;
  Transport& transport_;
  SentLog* log_;
  std::uint32_t self_;
  std::uint32_t other_;
  std::string other_name_;
  std::string flows_;  // between the two, as a reason names them
  std::uint64_t scenario_;
  std::vector<Sending> sending_;
  std::vector<Receiving> receiving_;
  wire::FrameReader reader_;
  wire::Bytes out_;
  std::vector<wire::Ask> asks_;
  std::vector<wire::Answer> answers_;
  std::uint32_t awaited_ = 0;  // our stream, of which we do not know yet how far the old one came
  std::uint32_t resumes_ = 0;  // the other's stream, if it is not the first
  bool started_ = false;       // greet() was called
  bool greeted_ = false;
  std::string fenced_;
  std::string stopped_;
};

}  // namespace isochron::flow
