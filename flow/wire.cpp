#include "flow/wire.hpp"

#include <cstring>

namespace isochron::flow::wire {
namespace {

enum class Kind : std::uint8_t { hello = 1, message = 2, bound = 3, credit = 4, stop = 5 };
constexpr std::size_t size_field = 4;
constexpr std::size_t max_lines = 65535;

template <class T>
void put(Bytes& to, T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof(T));
}

void put_text(Bytes& to, std::string_view text) {
  text = text.substr(0, UINT16_MAX);
  put(to, static_cast<std::uint16_t>(text.size()));
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  to.insert(to.end(), bytes, bytes + text.size());
}

/// Writes the size field when the frame is whole.
class FrameScope {
 public:
  FrameScope(Bytes& to, Kind kind) : to_(to), start_(to.size()) {
    put(to_, std::uint32_t{0});
    put(to_, kind);
  }
  ~FrameScope() {
    const auto size = static_cast<std::uint32_t>(to_.size() - start_ - size_field);
    std::memcpy(to_.data() + start_, &size, sizeof size);
  }

 private:
  Bytes& to_;
  std::size_t start_;
};

/// Reads values off a frame's body; after the first that does not fit, ok() is false.
class Body {
 public:
  explicit Body(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    T value{};
    if (bytes_.size() < sizeof(T)) {
      ok_ = false;
      bytes_ = {};
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
    return value;
  }
  SimTime get_time() { return SimTime::from_ns(get<std::int64_t>()); }
  std::string get_text() {
    const auto size = get<std::uint16_t>();
    if (bytes_.size() < size) {
      ok_ = false;
      return {};
    }
    std::string text(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size);
    return text;
  }
  std::span<const std::byte> rest() { return std::exchange(bytes_, {}); }
  [[nodiscard]] bool ok() const { return ok_; }
  /// All was there and nothing is left over.
  [[nodiscard]] bool exact() const { return ok_ && bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

/// Reads into `frame`; returns what is wrong, "" if nothing.
std::string read_hello(Body& body, Frame& frame) {
  if (body.get<std::uint32_t>() != magic) return "the peer does not speak Isochron flows";
  Hello hello;
  hello.version = body.get<std::uint16_t>();
  if (body.ok() && hello.version != version) {
    return "the peer speaks version " + std::to_string(hello.version) + " of the flow protocol, this is version " +
           std::to_string(version);
  }
  hello.scenario = body.get<std::uint64_t>();
  hello.node = body.get_text();
  const auto lines = body.get<std::uint16_t>();
  for (std::uint32_t i = 0; i < lines && body.ok(); ++i) {
    Line line;
    line.number = body.get<std::uint32_t>();
    line.output = body.get_text();
    line.input = body.get_text();
    line.type = body.get<std::uint64_t>();
    hello.lines.push_back(std::move(line));
  }
  if (!body.exact()) return "a hello frame of the wrong size";
  frame = std::move(hello);
  return "";
}

std::string read_frame(std::span<const std::byte> bytes, Frame& frame) {
  Body body(bytes);
  const auto kind = body.get<Kind>();
  switch (kind) {
    case Kind::hello:
      return read_hello(body, frame);
    case Kind::message: {
      MessageFrame message;
      message.line = body.get<std::uint32_t>();
      message.time = body.get_time();
      message.next = body.get_time();
      if (!body.ok()) return "a message frame that is too short";
      message.payload = body.rest();
      frame = message;
      return "";
    }
    case Kind::bound: {
      const auto line = body.get<std::uint32_t>();
      const Bound bound{line, body.get_time()};
      if (!body.exact()) return "a bound frame of the wrong size";
      frame = bound;
      return "";
    }
    case Kind::credit: {
      const auto line = body.get<std::uint32_t>();
      const Credit credit{line, body.get<std::uint32_t>()};
      if (!body.exact()) return "a credit frame of the wrong size";
      frame = credit;
      return "";
    }
    case Kind::stop: {
      Stop stop{body.get_text()};
      if (!body.exact()) return "a stop frame of the wrong size";
      frame = std::move(stop);
      return "";
    }
  }
  return "a frame of unknown kind " + std::to_string(static_cast<int>(kind));
}

}  // namespace

void append(Bytes& to, const Hello& hello) {
  const FrameScope frame(to, Kind::hello);
  put(to, magic);
  put(to, hello.version);
  put(to, hello.scenario);
  put_text(to, hello.node);
  const std::size_t lines = std::min(hello.lines.size(), max_lines);
  put(to, static_cast<std::uint16_t>(lines));
  for (std::size_t i = 0; i < lines; ++i) {
    put(to, hello.lines[i].number);
    put_text(to, hello.lines[i].output);
    put_text(to, hello.lines[i].input);
    put(to, hello.lines[i].type);
  }
}

void append(Bytes& to, const Bound& bound) {
  const FrameScope frame(to, Kind::bound);
  put(to, bound.line);
  put(to, bound.time.ns());
}

void append(Bytes& to, const Credit& credit) {
  const FrameScope frame(to, Kind::credit);
  put(to, credit.line);
  put(to, credit.count);
}

void append(Bytes& to, const Stop& stop) {
  const FrameScope frame(to, Kind::stop);
  put_text(to, stop.reason);
}

std::span<std::byte> append_message(Bytes& to, std::uint32_t line, SimTime time, SimTime next, std::size_t payload) {
  {
    const FrameScope frame(to, Kind::message);
    put(to, line);
    put(to, time.ns());
    put(to, next.ns());
    to.resize(to.size() + payload);
  }
  return std::span(to).last(payload);
}

void FrameReader::feed(std::span<const std::byte> bytes) {
  if (!dead_.empty()) return;
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at_));
  at_ = 0;
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

Result<bool, std::string> FrameReader::next(Frame& frame) {
  if (!dead_.empty()) return fail(dead_);
  if (pending() < size_field) return false;
  std::uint32_t size = 0;
  std::memcpy(&size, buffer_.data() + at_, sizeof size);
  if (size == 0 || size > largest_) {
    dead_ = "a frame of " + std::to_string(size) + " bytes; at most " + std::to_string(largest_) + " are allowed";
    return fail(dead_);
  }
  if (pending() < size_field + size) return false;
  dead_ = read_frame(std::span<const std::byte>(buffer_).subspan(at_ + size_field, size), frame);
  at_ += size_field + size;
  if (!dead_.empty()) return fail(dead_);
  return true;
}

}  // namespace isochron::flow::wire
