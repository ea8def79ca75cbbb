#include "apps/isochron/launch_line.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "apps/isochron/terminal.hpp"

namespace isochron::app {
namespace {

constexpr std::size_t longest_line = 64U << 10U;

/// What follows the words that were read so far, up to the end of the line.
std::string rest_of(std::istringstream& in) {
  std::string rest;
  std::getline(in >> std::ws, rest);
  return rest;
}

std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

std::string to_text(const LaunchTerms& terms) {
  return terms.number + " " + std::to_string(terms.life) + " " + std::to_string(terms.behind.ns());
}

std::optional<LaunchTerms> read_launch_terms(const std::string& text) {
  LaunchTerms terms;
  std::int64_t behind = 0;
  std::istringstream in(text);
  if (!(in >> terms.number >> terms.life >> behind) || behind < 0) return std::nullopt;
  terms.behind = WallSpan::from_ns(behind);
  return terms;
}

std::string line_again(const Rendezvous::Again& again) {
  return "again " + std::to_string(again.life) + " " + again.address + " " + again.node + "\n";
}

std::string line_given_up(const Rendezvous::GivenUp& lost) {
  return "lost " + lost.node + "|" + in_one_line(lost.why) + "\n";
}

std::string line_over() { return "over\n"; }

void read_launcher_line(const std::string& line, Rendezvous::News& news) {
  std::istringstream in(line);
  std::string word;
  in >> word;
  if (word == "over") news.over = true;
  if (word == "again") {
    Rendezvous::Again again;
    in >> again.life >> again.address;
    again.node = rest_of(in);
    if (in && !again.node.empty()) news.again.push_back(std::move(again));
  }
  if (word == "lost") {
    const std::string what = rest_of(in);
    const auto bar = what.find('|');
    if (bar != std::string::npos) news.given_up.push_back({what.substr(0, bar), what.substr(bar + 1)});
  }
}

std::optional<NodeWord> take_node_word(std::string& line, const std::string& number) {
  const auto at = line.find(number + " ");  // behind what a node printed without ending the line
  if (number.empty() || at == std::string::npos) return std::nullopt;
  std::istringstream in(line.substr(at + number.size()));
  line.erase(at);
  std::string word;
  in >> word;
  if (word == "began") return NodeWord{NodeWord::What::began};
  if (word == "finished") return NodeWord{NodeWord::What::finished};
  if (word == "missing") return NodeWord{NodeWord::What::missing, rest_of(in)};
  return std::nullopt;
}

LaunchLine::LaunchLine(RunWatch& watch, LaunchTerms terms)
    : terms_(std::move(terms)), thread_([this, &watch] { listen(watch); }) {}

LaunchLine::~LaunchLine() {
  done_.store(true);
  thread_.join();
}

void LaunchLine::listen(RunWatch& watch) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  std::string pending;
  char text[4096];
  while (!done_.load()) {
    if (poll(&input, 1, 50) <= 0) continue;
    const ssize_t n = read(STDIN_FILENO, text, sizeof text);
    if (n <= 0) return watch.stop();
    pending.append(text, static_cast<std::size_t>(n));
    for (std::size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
      const std::lock_guard lock(mutex_);
      read_launcher_line(pending.substr(0, end), news_);
      any_.store(true, std::memory_order_release);
      pending.erase(0, end + 1);
    }
    if (pending.size() > longest_line) pending.clear();
  }
}

Rendezvous::News LaunchLine::take() {
  if (!any_.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(mutex_);
  any_.store(false, std::memory_order_relaxed);
  return std::exchange(news_, {});
}

void LaunchLine::say_word(const std::string& word) const { say(terms_.number + " " + word + "\n"); }

}  // namespace isochron::app
