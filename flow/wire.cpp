#include "flow/wire.hpp"

#include <cstring>

namespace isochron::flow::wire {
namespace {

enum class Kind : std::uint8_t { hello = 1, message, bound, credit, stop, ask, answer, resume };
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
  /// How many things of at least `size` bytes follow; more than can be there is a mistake.
  std::uint32_t get_count(std::size_t size) {
    const auto count = get<std::uint32_t>();
    if (count <= bytes_.size() / size) return count;
    ok_ = false;
    return 0;
  }
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

void read_counts(Body& body, std::vector<Statement::Count>& counts) {
  const std::uint32_t all = body.get_count(12);
  for (std::uint32_t i = 0; i < all; ++i) {
    const auto link = body.get<std::uint32_t>();
    counts.push_back({link, body.get<std::uint64_t>()});
  }
}

std::string read_answer(Body& body, Frame& frame) {
  Answer answer;
  answer.origin = body.get<std::uint32_t>();
  answer.number = body.get<std::uint64_t>();
  const std::uint32_t all = body.get_count(20);
  for (std::uint32_t i = 0; i < all && body.ok(); ++i) {
    Statement& statement = answer.statements.emplace_back();
    statement.node = body.get<std::uint32_t>();
    statement.first = body.get_time();
    read_counts(body, statement.known);
    read_counts(body, statement.sent);
  }
  if (!body.exact()) return "an answer frame of the wrong size";
  frame = std::move(answer);
  return "";
}

std::string read_resume(Body& body, Frame& frame) {
  Resume resume;
  resume.stream = body.get<std::uint32_t>();
  const std::uint32_t all = body.get_count(20);
  for (std::uint32_t i = 0; i < all; ++i) {
    const auto line = body.get<std::uint32_t>();
    const auto received = body.get<std::uint64_t>();
    resume.lines.push_back({line, received, body.get_time()});
  }
  if (!body.exact()) return "a resume frame of the wrong size";
  frame = std::move(resume);
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
      const Credit credit{line, body.get<std::uint64_t>()};
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
    case Kind::ask: {
      const auto origin = body.get<std::uint32_t>();
      const Ask ask{origin, body.get<std::uint64_t>()};
      if (!body.exact()) return "an ask frame of the wrong size";
      frame = ask;
      return "";
    }
    case Kind::answer:
      return read_answer(body, frame);
    case Kind::resume:
      return read_resume(body, frame);
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
  put(to, credit.consumed);
}

void append(Bytes& to, const Stop& stop) {
  const FrameScope frame(to, Kind::stop);
  put_text(to, stop.reason);
}

void append(Bytes& to, const Ask& ask) {
  const FrameScope frame(to, Kind::ask);
  put(to, ask.origin);
  put(to, ask.number);
}

void append(Bytes& to, const Answer& answer) {
  const FrameScope frame(to, Kind::answer);
  put(to, answer.origin);
  put(to, answer.number);
  put(to, static_cast<std::uint32_t>(answer.statements.size()));
  for (const Statement& statement : answer.statements) {
    put(to, statement.node);
    put(to, statement.first.ns());
    for (const auto* counts : {&statement.known, &statement.sent}) {
      put(to, static_cast<std::uint32_t>(counts->size()));
      for (const auto& [link, messages] : *counts) put(to, link), put(to, messages);
    }
  }
}

void append(Bytes& to, const Resume& resume) {
  const FrameScope frame(to, Kind::resume);
  put(to, resume.stream);
  put(to, static_cast<std::uint32_t>(resume.lines.size()));
  for (const auto& [line, received, promised] : resume.lines) {
    put(to, line);
    put(to, received);
    put(to, promised.ns());
  }
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
