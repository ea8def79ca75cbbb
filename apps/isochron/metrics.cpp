#include "apps/isochron/metrics.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/input_error.hpp"

namespace isochron::app {
namespace {

/// As the format wants it between quotation marks.
std::string label(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

}  // namespace

Metrics::Metrics(std::uint16_t port, const Scenario& scenario, const RunWatch& watch)
    : scenario_(scenario.name),
      mode_(Words<Mode>::list[static_cast<std::size_t>(scenario.time.mode)]),
      duration_s_(scenario.duration.seconds()),
      watch_(watch) {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof address;
  if (bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(socket_, 8) != 0 ||
      getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    const std::string why = std::strerror(errno);
    ::close(socket_);
    throw InputError({"--metrics " + std::to_string(port), 0, 0}, "cannot be served: " + why, "choose another port");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

Metrics::~Metrics() {
  done_.store(true);
  thread_.join();
  ::close(socket_);
}

std::string Metrics::text() const {
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double simulated = watch_.time().seconds();
  const std::string labels = "{scenario=\"" + label(scenario_) + "\",mode=\"" + mode_ + "\"} ";
  std::string text;
  const auto add = [&](const std::string& name, const char* type, const char* help, double value) {
    text += "# HELP isochron_" + name + " " + help + "\n# TYPE isochron_" + name + " " + type + "\nisochron_" + name +
            labels + number(value) + "\n";
  };
  add("simulated_seconds", "gauge", "Simulated time that the run has reached.", simulated);
  add("duration_seconds", "gauge", "Simulated time at which it ends.", duration_s_);
  add("wall_seconds", "gauge", "Wall time since its start.", wall);
  add("real_time_ratio", "gauge", "Simulated seconds for each wall second so far.", wall > 0 ? simulated / wall : 0);
  add("drift_seconds", "gauge", "The greatest drift so far.", watch_.drift().seconds());
  if (const auto deadlines = watch_.deadlines()) {
    add("missed_deadlines_total", "counter", "Deadlines missed by all programs.",
        static_cast<double>(deadlines->missed));
    add("late_p99_seconds", "gauge", "How late 99 % of the releases were at most.", deadlines->late_p99.seconds());
    add("late_max_seconds", "gauge", "How late the latest release was.", deadlines->late_max.seconds());
  }
  return text;
}

void Metrics::serve() {
  pollfd door{socket_, POLLIN, 0};
  while (!done_.load()) {
    if (poll(&door, 1, 100) <= 0) continue;
    const int client = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    answer(client);
    ::close(client);
  }
}

/// Whoever asks gets the text, or hears that there is nothing else; one who does not ask within a second gets nothing.
void Metrics::answer(int client) const {
  std::string request;
  char piece[1024];
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (request.find("\r\n\r\n") == std::string::npos && request.size() < 8192) {
    pollfd speaker{client, POLLIN, 0};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0 || poll(&speaker, 1, static_cast<int>(left)) <= 0) return;
    const ssize_t n = recv(client, piece, sizeof piece, 0);
    if (n <= 0) return;
    request.append(piece, static_cast<std::size_t>(n));
  }
  const bool known = request.starts_with("GET /metrics ") || request.starts_with("GET / ");
  const std::string body = known ? text() : "there is /metrics\n";
  const std::string answer =
      std::string("HTTP/1.1 ") + (known ? "200 OK" : "404 Not Found") +
      "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\nConnection: close\r\n\r\n" + body;
  for (std::size_t sent = 0; sent < answer.size();) {
    const ssize_t n = send(client, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
}

}  // namespace isochron::app
