#pragma once
// What a target and its host say to each other over TCP. Each message is one frame (link/frame.hpp): a byte that says
// what it is, then its fields, little endian, texts with their length in front, the payload last.
//
//     host                                        target
//       | -- greeting: version, nonce ------------> |
//       | <- hello: version, name, nonce, proof --- |    the proof counts where the host has a key (link/auth.hpp)
//       | -- welcome: session, server's proof ----> |    or `refused` with a sentence, and the end
//       | -- ping --------------------------------> |    some, to measure the link; also later, while it is held
//       | <- pong: target's clock ----------------- |
//       | <- request ------------------------------ |    one at a time: the target is held until it is answered
//       | -- answer: the time it is stamped with -> |
//
// A request tells, by the target's own clock, when the answer before it came and when it left: what lies between is
// what the target executed, whatever the link took. With a key, every frame from the welcome on is sealed.
//
// It needs the C++ language and nothing else, so that the target's side builds anywhere. Reading never trusts: a
// message that is short, long or nonsense gives false.
//
// Threads: any. Cost: no heap; a payload is a view into the frame.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "protocol/program_protocol.hpp"
#include "protocol/versions.h"

namespace isochron::wire {

inline constexpr std::uint32_t magic = 0x4c494849;  // "IHIL"
inline constexpr std::uint16_t version = ISOCHRON_TARGET_VERSION;
inline constexpr std::size_t nonce_bytes = 32;
/// Room for everything in a request or an answer but its payload; and what a seal adds.
inline constexpr std::size_t overhead_max = 512;
inline constexpr std::size_t text_max = 512;                      // of a refusal
inline constexpr const char* key_context = "isochron target 1 ";  // and the target's name

enum class Kind : std::uint8_t { greeting = 1, hello, welcome, refused, ping, pong, request, answer };

struct Greeting {
  std::uint16_t version_number = version;
  bool key_needed = false;
  std::array<std::byte, nonce_bytes> nonce{};
};
struct Hello {
  std::uint16_t version_number = version;
  std::uint64_t session = 0;  // 0: the target's first link; else what the welcome of that one said
  std::string_view name;
  std::array<std::byte, nonce_bytes> nonce{};
  std::array<std::byte, nonce_bytes> proof{};
};
struct Welcome {
  std::uint64_t session = 0;
  bool held = true;  // answers are held back; otherwise the target's clock is to be asked for
  std::array<std::byte, nonce_bytes> proof{};
};
struct Ping {
  std::uint32_t number = 0;
};
struct Pong {
  std::uint32_t number = 0;
  std::int64_t clock = 0;
};
struct Request {
  std::uint8_t ask = 0;  // protocol::Ask
  std::uint32_t index = 0;
  std::int64_t time = 0, number = 0;
  std::int64_t received = 0, sent = 0;  // the target's clock: the answer before, and this
  std::string_view name, type;
  std::span<const std::byte> payload;
};
struct Answer {
  std::uint8_t verdict = 0;  // protocol::Verdict
  std::uint32_t index = 0;
  std::int64_t time = 0, number = 0, stamp = 0;
  std::string_view name, type;
  std::span<const std::byte> payload;
};

/// Writes into room that is large enough: overhead_max and the payload. What does not fit is not written.
class Writer {
 public:
  explicit Writer(std::span<std::byte> room) : room_(room) {}
  template <class T>
  void number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i)
      byte(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i)));
  }
  void text(std::string_view text) {
    const std::size_t length = text.size() < protocol::name_max ? text.size() : protocol::name_max - 1;
    number(static_cast<std::uint8_t>(length));
    bytes({reinterpret_cast<const std::byte*>(text.data()), length});
  }
  void bytes(std::span<const std::byte> bytes) {
    if (bytes.size() > room_.size() - at_) return void(full_ = true);
    if (!bytes.empty()) std::memcpy(room_.data() + at_, bytes.data(), bytes.size());
    at_ += bytes.size();
  }
  [[nodiscard]] std::size_t size() const { return full_ ? 0 : at_; }

 private:
  void byte(std::byte value) {
    if (at_ == room_.size()) return void(full_ = true);
    room_[at_++] = value;
  }
  std::span<std::byte> room_;
  std::size_t at_ = 0;
  bool full_ = false;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  T number() {
    std::uint64_t value = 0;
    const auto from = bytes(sizeof(T));
    for (std::size_t i = 0; i < from.size(); ++i) value |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
    return static_cast<T>(value);
  }
  std::string_view text() {
    const std::size_t length = number<std::uint8_t>();
    if (length >= protocol::name_max) ok_ = false;
    const auto from = bytes(length);
    if (!from.empty() && std::memchr(from.data(), 0, from.size()) != nullptr) ok_ = false;
    return {reinterpret_cast<const char*>(from.data()), from.size()};
  }
  void copy(std::span<std::byte> to) {
    const auto from = bytes(to.size());
    if (from.size() == to.size()) std::memcpy(to.data(), from.data(), to.size());
  }
  std::span<const std::byte> rest() { return bytes(bytes_.size() - at_); }
  std::span<const std::byte> bytes(std::size_t n) {
    if (!ok_ || n > bytes_.size() - at_) return void(ok_ = false), std::span<const std::byte>{};
    at_ += n;
    return bytes_.subspan(at_ - n, n);
  }
  [[nodiscard]] bool ok() const { return ok_; }
  /// All was read, and nothing is left over.
  [[nodiscard]] bool done() const { return ok_ && at_ == bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

/// What a frame is; 0 = nothing that we know.
[[nodiscard]] inline Kind kind_of(std::span<const std::byte> frame) {
  return frame.empty() ? Kind{} : static_cast<Kind>(frame[0]);
}

inline std::size_t write(std::span<std::byte> room, const Greeting& m) {
  Writer w(room);
  w.number(static_cast<std::uint8_t>(Kind::greeting));
  w.number(magic);
  w.number(m.version_number);
  w.number(static_cast<std::uint8_t>(m.key_needed));
  w.bytes(m.nonce);
  return w.size();
}
inline bool read(std::span<const std::byte> frame, Greeting& m) {
  Reader r(frame);
  if (static_cast<Kind>(r.number<std::uint8_t>()) != Kind::greeting || r.number<std::uint32_t>() != magic) return false;
  m.version_number = r.number<std::uint16_t>();
  if (m.version_number != version) return r.ok();  // the rest may be anything
  m.key_needed = r.number<std::uint8_t>() != 0;
  r.copy(m.nonce);
  return r.done();
}

inline std::size_t write(std::span<std::byte> room, const Hello& m) {
  Writer w(room);
  w.number(static_cast<std::uint8_t>(Kind::hello));
  w.number(magic);
  w.number(m.version_number);
  w.number(m.session);
  w.text(m.name);
  w.bytes(m.nonce);
  w.bytes(m.proof);
  return w.size();
}
inline bool read(std::span<const std::byte> frame, Hello& m) {
  Reader r(frame);
  if (static_cast<Kind>(r.number<std::uint8_t>()) != Kind::hello || r.number<std::uint32_t>() != magic) return false;
  m.version_number = r.number<std::uint16_t>();
  if (m.version_number != version) return r.ok();
  m.session = r.number<std::uint64_t>();
  m.name = r.text();
  r.copy(m.nonce);
  r.copy(m.proof);
  return r.done();
}

inline std::size_t write(std::span<std::byte> room, const Welcome& m) {
  Writer w(room);
  w.number(static_cast<std::uint8_t>(Kind::welcome));
  w.number(m.session);
  w.number(static_cast<std::uint8_t>(m.held));
  w.bytes(m.proof);
  return w.size();
}
inline bool read(std::span<const std::byte> frame, Welcome& m) {
  Reader r(frame);
  if (static_cast<Kind>(r.number<std::uint8_t>()) != Kind::welcome) return false;
  m.session = r.number<std::uint64_t>();
  m.held = r.number<std::uint8_t>() != 0;
  r.copy(m.proof);
  return r.done();
}

inline std::size_t write_refused(std::span<std::byte> room, std::string_view why) {
  Writer w(room);
  w.number(static_cast<std::uint8_t>(Kind::refused));
  w.bytes({reinterpret_cast<const std::byte*>(why.data()), why.size() < text_max ? why.size() : text_max});
  return w.size();
}
inline bool read_refused(std::span<const std::byte> frame, std::string_view& why) {
  Reader r(frame);
  if (static_cast<Kind>(r.number<std::uint8_t>()) != Kind::refused) return false;
  const auto text = r.rest();
  why = {reinterpret_cast<const char*>(text.data()), text.size() < text_max ? text.size() : text_max};
  return true;
}

inline std::size_t write(std::span<std::byte> room, const Ping& m) {
  Writer w(room);
  w.number(static_cast<std::uint8_t>(Kind::ping));
  w.number(m.number);
  return w.size();
}
inline bool read(std::span<const std::byte> frame, Ping& m) {
  Reader r(frame);
  if (static_cast<Kind>(r.number<std::uint8_t>()) != Kind::ping) return false;
  m.number = r.number<std::uint32_t>();
  return r.done();
}

inline std::size_t write(std::span<std::byte> room, const Pong& m) {
  Writer w(room);
  w.number(static_cast<std::uint8_t>(Kind::pong));
  w.number(m.number);
  w.number(m.clock);
  return w.size();
}
inline bool read(std::span<const std::byte> frame, Pong& m) {
  Reader r(frame);
  if (static_cast<Kind>(r.number<std::uint8_t>()) != Kind::pong) return false;
  m.number = r.number<std::uint32_t>();
  m.clock = r.number<std::int64_t>();
  return r.done();
}

/// Without its payload, which the caller puts behind it.
inline std::size_t write_head(std::span<std::byte> room, const Request& m) {
  Writer w(room);
  w.number(static_cast<std::uint8_t>(Kind::request));
  w.number(m.ask);
  w.number(m.index);
  w.number(m.time);
  w.number(m.number);
  w.number(m.received);
  w.number(m.sent);
  w.text(m.name);
  w.text(m.type);
  return w.size();
}
inline bool read(std::span<const std::byte> frame, Request& m) {
  Reader r(frame);
  if (static_cast<Kind>(r.number<std::uint8_t>()) != Kind::request) return false;
  m.ask = r.number<std::uint8_t>();
  m.index = r.number<std::uint32_t>();
  m.time = r.number<std::int64_t>();
  m.number = r.number<std::int64_t>();
  m.received = r.number<std::int64_t>();
  m.sent = r.number<std::int64_t>();
  m.name = r.text();
  m.type = r.text();
  m.payload = r.rest();
  return r.done() && m.payload.size() <= protocol::payload_max;
}

/// Without its payload, which the caller puts behind it.
inline std::size_t write_head(std::span<std::byte> room, const Answer& m) {
  Writer w(room);
  w.number(static_cast<std::uint8_t>(Kind::answer));
  w.number(m.verdict);
  w.number(m.index);
  w.number(m.time);
  w.number(m.number);
  w.number(m.stamp);
  w.text(m.name);
  w.text(m.type);
  return w.size();
}
inline bool read(std::span<const std::byte> frame, Answer& m) {
  Reader r(frame);
  if (static_cast<Kind>(r.number<std::uint8_t>()) != Kind::answer) return false;
  m.verdict = r.number<std::uint8_t>();
  m.index = r.number<std::uint32_t>();
  m.time = r.number<std::int64_t>();
  m.number = r.number<std::int64_t>();
  m.stamp = r.number<std::int64_t>();
  m.name = r.text();
  m.type = r.text();
  m.payload = r.rest();
  return r.done();
}

}  // namespace isochron::wire
