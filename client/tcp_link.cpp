#include "client/tcp_link.hpp"

#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace isochron::client {
namespace {

std::int64_t clock_ns(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

constexpr std::size_t largest_frame = protocol::payload_max + wire::overhead_max + 16;  // with its seal

std::int64_t own_clock() { return clock_ns(CLOCK_MONOTONIC); }

/// When what was received came in, by our own clock; now, where the system does not note it. The time from then until
/// this program runs again is its own, as it would be with a real sensor.
std::int64_t arrival_of(msghdr& message) {
  const std::int64_t now = own_clock();
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SO_TIMESTAMPING) continue;
    scm_timestamping stamps;
    std::memcpy(&stamps, CMSG_DATA(part), sizeof stamps);
    const std::int64_t stamp = static_cast<std::int64_t>(stamps.ts[0].tv_sec) * 1'000'000'000 + stamps.ts[0].tv_nsec;
    const std::int64_t ago = clock_ns(CLOCK_REALTIME) - stamp;
    return stamp == 0 || ago < 0 || ago > 60'000'000'000 ? now : now - ago;
  }
  return now;
}

std::size_t length_of(const std::byte* header) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length |= std::to_integer<std::size_t>(header[i]) << (8 * i);
  return length;
}

void put(std::byte* to, std::uint64_t number, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(number >> (8 * i));
}

std::uint64_t get(const std::byte* from) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
  return number;
}

void fill_in(protocol::Exchange& exchange, const wire::Answer& answer) {
  exchange.verdict = answer.verdict;
  exchange.index = answer.index;
  exchange.time = answer.time;
  exchange.number = answer.number;
  exchange.stamp = answer.stamp;
  exchange.size = static_cast<std::uint32_t>(answer.payload.size());
  std::memset(exchange.name, 0, sizeof exchange.name);
  std::memset(exchange.type, 0, sizeof exchange.type);
  std::memcpy(exchange.name, answer.name.data(), answer.name.size());
  std::memcpy(exchange.type, answer.type.data(), answer.type.size());
}

/// The key's text, from the environment or from a file that it names.
std::string read_key(std::string& text) {
  if (const char* value = std::getenv("ISOCHRON_KEY")) return text = value, "";
  const char* path = std::getenv("ISOCHRON_KEY_FILE");
  if (path == nullptr) return "";
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  struct stat about {};
  if (file < 0 || ::fstat(file, &about) != 0) return std::string(path) + " cannot be read";
  char buffer[256];
  const ssize_t n = ::read(file, buffer, sizeof buffer);
  ::close(file);
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return std::string(path) + ": others than its owner can read this key; run chmod 600";
  }
  text.assign(buffer, n > 0 ? static_cast<std::size_t>(n) : 0);
  return "";
}

}  // namespace

std::string parse_tcp(const char* text, TcpAddress& address) {
  const std::string all = text;
  const auto slash = all.find('/');
  const std::string place = all.substr(0, slash);
  const auto colon = place.rfind(':');
  if (colon == std::string::npos || colon + 1 == place.size()) return "a port is missing, as in tcp://host:7410";
  address.host = place.substr(0, colon);
  address.port = place.substr(colon + 1);
  if (address.host.size() > 1 && address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  if (slash != std::string::npos) address.name = all.substr(slash + 1);
  return read_identity(address);
}

std::string read_identity(TcpAddress& address) {
  if (const char* name = std::getenv("ISOCHRON_NAME")) address.name = name;
  if (address.name.empty()) {
    return "which target this is, is missing: /ROBOT/PROGRAM behind the address, or ISOCHRON_NAME=ROBOT/PROGRAM";
  }
  if (address.name.size() >= protocol::name_max) return "the target's name is too long";
  std::string key;
  if (std::string wrong = read_key(key); !wrong.empty()) return wrong;
  if (key.empty()) return "";
  address.key_bytes = parse_key(key, address.key);
  return address.key_bytes == 0 ? "the key is not 32 or 64 hexadecimal digits" : "";
}

bool TcpLink::lost(std::string& why, const char* what) {
  why = what;
  close(false);
  return false;
}

bool TcpLink::connect_to(const TcpAddress& address, std::string& why) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int status = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
  if (status != 0) {
    why = address.host + ":" + address.port + ": " + ::gai_strerror(status);
    return false;
  }
  for (const addrinfo* at = found; at != nullptr && socket_ < 0; at = at->ai_next) {
    socket_ = ::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_ >= 0 && ::connect(socket_, at->ai_addr, at->ai_addrlen) == 0) break;
    why = address.host + ":" + address.port + ": " + std::strerror(errno);
    close(false);
  }
  ::freeaddrinfo(found);
  if (socket_ < 0) return false;
  const int yes = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(socket_, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  const int stamps = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE;
  ::setsockopt(socket_, SOL_SOCKET, SO_TIMESTAMPING, &stamps, sizeof stamps);
  return true;
}

bool TcpLink::open(const TcpAddress& address, std::uint64_t& session, std::string& why) {
  return connect_to(address, why) && shake_hands(address, session, why);
}

bool TcpLink::open_on(int socket, const TcpAddress& address, std::uint64_t& session, std::string& why) {
  socket_ = socket;
  return shake_hands(address, session, why);
}

bool TcpLink::read_greeting(const TcpAddress& address, wire::Greeting& greeting, std::string& why) {
  const auto greeted = receive_frame();
  if (!greeted || !wire::read(*greeted, greeting)) return lost(why, "the peer there is not an Isochron host");
  if (greeting.version_number != wire::version) {
    return lost(why, "host and target speak different versions; build both from one Isochron");
  }
  if (greeting.key_needed && address.key_bytes == 0) {
    return lost(why, "the host asks for a key; give it in ISOCHRON_KEY or ISOCHRON_KEY_FILE");
  }
  if (!greeting.key_needed && address.key_bytes > 0) {
    return lost(why,
                "the host does not prove that it holds our key; give it the same one with --key, or unset "
                "ISOCHRON_KEY and ISOCHRON_KEY_FILE here");
  }
  return true;
}

bool TcpLink::shake_hands(const TcpAddress& address, std::uint64_t& session, std::string& why) {
  wire::Greeting greeting;
  if (!read_greeting(address, greeting, why)) return false;
  const std::span<const std::byte> key = std::span(address.key).first(address.key_bytes);
  wire::Hello hello;
  hello.session = session;
  hello.name = address.name;
  std::vector<std::byte> handshake(greeting.nonce.begin(), greeting.nonce.end());
  if (greeting.key_needed) {
    if (::getrandom(hello.nonce.data(), hello.nonce.size(), 0) != static_cast<ssize_t>(hello.nonce.size())) {
      return lost(why, "this system gives no random numbers");
    }
    handshake.insert(handshake.end(), hello.nonce.begin(), hello.nonce.end());
    const auto context = std::as_bytes(std::span(wire::key_context, std::strlen(wire::key_context)));
    handshake.insert(handshake.end(), context.begin(), context.end());
    const auto name = std::as_bytes(std::span(address.name));
    handshake.insert(handshake.end(), name.begin(), name.end());
    hello.proof = prove(key, "isochron client", handshake);
  }
  if (!send_frame(wire::write(std::span(out_).subspan(front()), hello), nullptr, 0)) {
    return lost(why, "the host closed the connection");
  }
  const auto answer = receive_frame();
  if (!answer) return lost(why, "the host closed the connection");
  std::string_view refusal;
  if (wire::read_refused(*answer, refusal)) return lost(why, std::string(refusal).c_str());
  wire::Welcome welcome;
  if (!wire::read(*answer, welcome)) return lost(why, "the host's welcome cannot be read");
  if (greeting.key_needed) {
    if (!same(welcome.proof, prove(key, "isochron server", handshake))) {
      return lost(why, "the host does not hold our key");
    }
    const Hash32 up = prove(key, "isochron to server", handshake), down = prove(key, "isochron to client", handshake);
    std::memcpy(to_server_.data(), up.data(), to_server_.size());
    std::memcpy(to_client_.data(), down.data(), to_client_.size());
    sealed_ = true;
  }
  session = welcome.session;
  held_ = welcome.held;
  received_ = arrived_;
  return true;
}

/// Sends the head that stands in out_ at front(), and the payload behind it.
bool TcpLink::send_frame(std::size_t head, const void* payload, std::size_t size) {
  const std::size_t message = (sealed_ ? 16 : 0) + head + size;
  out_.resize(std::max(out_.size(), 4 + message));
  if (size > 0) std::memcpy(out_.data() + front() + head, payload, size);
  if (sealed_) {
    put(out_.data() + 4, ++sent_number_, 8);
    put(out_.data() + 4 + message - 8, siphash(to_server_, std::span(out_).subspan(4, message - 8)), 8);
  }
  put(out_.data(), message, 4);
  for (std::size_t at = 0; at < 4 + message;) {
    const ssize_t n = ::send(socket_, out_.data() + at, 4 + message - at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

/// Until so many bytes are there.
bool TcpLink::fill(std::size_t bytes) {
  if (in_begin_ > 0 && (in_begin_ == in_end_ || in_begin_ + bytes > in_.size())) {
    std::memmove(in_.data(), in_.data() + in_begin_, in_end_ - in_begin_);
    in_end_ -= in_begin_;
    in_begin_ = 0;
  }
  if (bytes > in_.size()) in_.resize(bytes + 4096);
  while (in_end_ - in_begin_ < bytes) {
    iovec piece{in_.data() + in_end_, in_.size() - in_end_};
    alignas(cmsghdr) std::array<std::byte, 256> control;
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t n = ::recvmsg(socket_, &message, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    in_end_ += static_cast<std::size_t>(n);
    arrived_ = arrival_of(message);
  }
  return true;
}

std::optional<std::span<const std::byte>> TcpLink::receive_frame() {
  if (!fill(4)) return std::nullopt;
  const std::size_t length = length_of(in_.data() + in_begin_);
  if (length > largest_frame || !fill(4 + length)) return std::nullopt;
  std::span<const std::byte> frame(in_.data() + in_begin_ + 4, length);
  in_begin_ += 4 + length;
  if (!sealed_) return frame;
  if (length < 16) return std::nullopt;
  std::array<std::byte, 8> tag;
  put(tag.data(), siphash(to_client_, frame.first(length - 8)), 8);
  const std::uint64_t number = get(frame.data());
  if (!same(tag, frame.last(8)) || number != received_number_ + 1) return std::nullopt;
  received_number_ = number;
  return frame.subspan(8, length - 16);
}

bool TcpLink::answer_ping(std::span<const std::byte> frame) {
  wire::Ping ping;
  if (!wire::read(frame, ping)) return false;
  return send_frame(wire::write(std::span(out_).subspan(front()), wire::Pong{ping.number, own_clock()}), nullptr, 0);
}

bool TcpLink::ask(protocol::Exchange& exchange, const Payload& payload, std::string& why) {
  if (ended_) return say_ended(exchange);
  if (socket_ < 0) return lost(why, "the connection to the host is gone");
  wire::Request request;
  request.ask = static_cast<std::uint8_t>(exchange.ask);
  request.index = exchange.index;
  request.time = exchange.time;
  request.number = exchange.number;
  request.received = received_;
  request.name = exchange.name;
  request.type = exchange.type;
  request.sent = own_clock();
  // If it cannot be sent the host may have gone after the end of the run, which it has told us in advance.
  (void)send_frame(wire::write_head(std::span(out_).subspan(front()), request), payload.out, payload.out_size);
  wire::Answer answer;
  if (!receive_answer(answer, why)) return false;
  const bool says_why = answer.verdict > static_cast<std::uint32_t>(protocol::Verdict::ended);
  if (!says_why && answer.payload.size() > payload.in_capacity) {
    return lost(why, "the host handed over more bytes than were asked for");
  }
  received_ = arrived_;
  answered_ = answer.time;
  ended_ = answer.verdict == static_cast<std::uint8_t>(protocol::Verdict::ended);
  fill_in(exchange, answer);
  if (says_why) {
    exchange.size = 0;
    why.assign(reinterpret_cast<const char*>(answer.payload.data()), std::min(answer.payload.size(), wire::text_max));
  } else if (!answer.payload.empty()) {
    std::memcpy(payload.in, answer.payload.data(), answer.payload.size());
  }
  return true;
}

bool TcpLink::say_ended(protocol::Exchange& exchange) const {
  exchange = {};
  exchange.verdict = static_cast<std::uint32_t>(protocol::Verdict::ended);
  exchange.time = answered_;
  return true;
}

/// The next answer; pings on the way are answered.
bool TcpLink::receive_answer(wire::Answer& answer, std::string& why) {
  for (;;) {
    const auto frame = receive_frame();
    if (!frame) return lost(why, "the connection to the host is gone");
    std::string_view refusal;
    if (wire::kind_of(*frame) == wire::Kind::ping) {
      if (!answer_ping(*frame)) return lost(why, "the connection to the host is gone");
    } else if (wire::read_refused(*frame, refusal)) {
      return lost(why, std::string(refusal).c_str());
    } else {
      return wire::read(*frame, answer) || lost(why, "the host said something that cannot be read");
    }
  }
}

std::int64_t TcpLink::now() const {
  std::int64_t now = 0;  // a host may say any number
  return __builtin_add_overflow(answered_, own_clock() - received_, &now) ? answered_ : now;
}

void TcpLink::close(bool say_bye) {
  if (socket_ < 0) return;
  if (say_bye) {
    wire::Request bye;  // asks for nothing
    bye.received = received_;
    bye.sent = own_clock();
    (void)send_frame(wire::write_head(std::span(out_).subspan(front()), bye), nullptr, 0);
  }
  ::close(socket_);
  socket_ = -1;
}

}  // namespace isochron::client
