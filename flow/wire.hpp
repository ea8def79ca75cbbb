#pragma once
// What flows say to each other between processes and machines: frames in a stream of bytes, little endian.
//
//     size u32 │ kind u8 │ body                  size counts kind and body
//
//     hello    magic u32, version u16, scenario u64, node text, lines: u16 × { number u32, output text, input text,
//              payload type u64 }
//     message  line u32, time i64, next i64, payload
//     bound    line u32, time i64                promise of an event flow; costs no credit
//     credit   line u32, consumed u64            so many messages were consumed, all in all
//     stop     reason text
//     ask      origin u32, number u64            node `origin` creeps: state yourself, and ask those before you
//     answer   origin u32, number u64, statements: u32 × { node u32, first i64, known, sent: u32 × { line u32,
//              messages u64 } }                  see floor.hpp; without statements: somebody else has asked already
//     resume   stream u32, lines: u32 × { line u32, received u64, promised i64 }
//                                                the other's stream began anew: from where it has to go on
//
// A line is one sink of one flow; text is u16 length and bytes. hello comes first and once in each direction, and again
// where a stream begins anew.
//
// Promises: the reader accepts whole frames only, in any slicing of the stream; it never reads beyond what came and
//           never keeps more than the largest frame. What is wrong is said in a sentence; after that the stream is
//           dead.
// Threads:  owner thread. Cost: no allocation once the buffers have grown to the largest frame.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "flow/statement.hpp"

namespace isochron::flow::wire {

inline constexpr std::uint32_t magic = 0x464f5349;  // "ISOF"
inline constexpr std::uint16_t version = 3;
inline constexpr std::size_t default_largest_frame = (256U << 20U) + 4096;  // the largest message, and its head

struct Line {
  std::uint32_t number = 0;
  std::string output;
  std::string input;
  std::uint64_t type = 0;
  friend bool operator==(const Line&, const Line&) = default;
};
struct Hello {
  std::uint16_t version = wire::version;
  std::uint64_t scenario = 0;
  std::string node;
  std::vector<Line> lines;
  friend bool operator==(const Hello&, const Hello&) = default;
};
struct MessageFrame {
  std::uint32_t line = 0;
  SimTime time;
  SimTime next;
  std::span<const std::byte> payload;  // valid until the reader is used again
};
struct Bound {
  std::uint32_t line = 0;
  SimTime time;
};
struct Credit {
  std::uint32_t line = 0;
  std::uint64_t consumed = 0;
};
struct Stop {
  std::string reason;
};
struct Ask {
  std::uint32_t origin = 0;
  std::uint64_t number = 0;
};
struct Answer {
  std::uint32_t origin = 0;
  std::uint64_t number = 0;
  std::vector<Statement> statements;
};
struct Resume {
  struct Line {
    std::uint32_t line = 0;
    std::uint64_t received = 0;
    SimTime promised;
  };
  std::uint32_t stream = 0;
  std::vector<Line> lines;
};
using Frame = std::variant<Hello, MessageFrame, Bound, Credit, Stop, Ask, Answer, Resume>;

using Bytes = std::vector<std::byte>;
void append(Bytes& to, const Hello& hello);
void append(Bytes& to, const Bound& bound);
void append(Bytes& to, const Credit& credit);
void append(Bytes& to, const Stop& stop);
void append(Bytes& to, const Ask& ask);
void append(Bytes& to, const Answer& answer);
void append(Bytes& to, const Resume& resume);
/// Room for the payload of a message; the caller fills it.
std::span<std::byte> append_message(Bytes& to, std::uint32_t line, SimTime time, SimTime next, std::size_t payload);

class FrameReader {
 public:
  explicit FrameReader(std::size_t largest_frame = default_largest_frame) : largest_(largest_frame) {}

  void feed(std::span<const std::byte> bytes);
  /// Whether there was a whole frame; then it is in `frame`. Fails: why the stream makes no sense.
  Result<bool, std::string> next(Frame& frame);
  /// Bytes of a frame that is not whole yet.
  [[nodiscard]] std::size_t pending() const { return buffer_.size() - at_; }

 private:
  std::size_t largest_;
  Bytes buffer_;
  std::size_t at_ = 0;
  std::string dead_;  // why, once it is
};

}  // namespace isochron::flow::wire
