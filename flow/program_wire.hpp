#pragma once
// The frames between a node and the program that is its inside (program_node.hpp). Little endian.
//
//     frame = size u32 (of what follows) │ kind u8 │ body          text = size u32, bytes
//
//     to the program                                        from it
//     1 hello    version u32, type text,                    16 ports    type text, about text,
//                u32 × { key text, value text }                         u32 × { input: name text, type text },
//     2 start    time i64                                               u32 × { output: name text, type text, kind u8,
//     3 message  input u32, time i64, payload                             varies u8, period i64, first i64, lookahead
//     i64, 4 fill     output u32, time i64                                     capacity u32 }, 5 finish   time i64 u32
//     × { parameter: key text, default text }
//                                                           17 filled   output u32, next i64, period i64, payload
//                                                           18 event    output u32, time i64, payload
//                                                           19 ready
//                                                           20 failed   reason text
//                                                           21 types    u32 × { name text, about text }
//
// hello of type "?" is answered with types, any other with ports. start and finish are answered with ready, fill with
// filled; a message with ready if the program has event outputs, else with nothing. Events come before the answer. next
// = the least i64: as the period says; period 0: as it was. Payloads are CDR with its header of four bytes, numbers
// alone their bytes.
//
// Threads: owner thread. Fails: FrameIn::take_… after the end of a frame throw std::runtime_error.

#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace isochron::flow::program_wire {

inline constexpr std::uint32_t version = 1;
inline constexpr std::size_t largest_frame = (256U << 20U) + 4096;
inline constexpr const char* descriptor_variable = "ISOCHRON_NODE_FD";
enum class Kind : std::uint8_t {
  hello = 1,
  start,
  message,
  fill,
  finish,
  ports = 16,
  filled,
  event,
  ready,
  failed,
  types
};

/// Frames one after the other.
class FramesOut {
 public:
  void begin(Kind kind) {
    at_ = bytes_.size();
    put(std::uint32_t{0});
    put(static_cast<std::uint8_t>(kind));
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  void put(T value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof value);
  }
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    const auto* from = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), from, from + text.size());
  }
  /// The rest of the frame, to be filled.
  std::span<std::byte> rest(std::size_t size) {
    bytes_.resize(bytes_.size() + size);
    return std::span(bytes_).last(size);
  }
  void end() {
    const auto size = static_cast<std::uint32_t>(bytes_.size() - at_ - 4);
    std::memcpy(bytes_.data() + at_, &size, sizeof size);
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  std::vector<std::byte> bytes_;
  std::size_t at_ = 0;
};

/// One frame.
class FrameIn {
 public:
  explicit FrameIn(std::span<const std::byte> body) : rest_(body) { kind_ = static_cast<Kind>(take<std::uint8_t>()); }
  [[nodiscard]] Kind kind() const { return kind_; }
  template <class T>
  T take() {
    T value{};
    if (rest_.size() < sizeof value) throw std::runtime_error("its program sent a frame that is too short");
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  std::string text() {
    const auto size = take<std::uint32_t>();
    if (rest_.size() < size) throw std::runtime_error("its program sent a frame that is too short");
    std::string text(reinterpret_cast<const char*>(rest_.data()), size);
    rest_ = rest_.subspan(size);
    return text;
  }
  [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
  Kind kind_{};
};

}  // namespace isochron::flow::program_wire
