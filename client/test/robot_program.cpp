// One robot program with many behaviours, good and bad; the first argument chooses.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "client/client.hpp"
#include "client/transport.hpp"

using namespace std::chrono_literals;
using isochron::SimSpan;
using isochron::SimTime;

namespace {

std::vector<std::string> arguments;
double number(std::size_t i, double otherwise) {
  return i < arguments.size() ? std::atof(arguments[i].c_str()) : otherwise;
}

/// Burns this much CPU time of the calling thread.
double executed_ms() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}
void spend(int rounds) {
  for (int i = 0; i < rounds; ++i) asm volatile("" : : "r"(i) : "memory");
}
void compute(double ms) {
  for (const double end = executed_ms() + ms; executed_ms() < end;) spend(500);
}

SimSpan milliseconds(double ms) { return SimSpan::from_ns(static_cast<std::int64_t>(ms * 1e6)); }

// controller [period ms] [computing ms]: holds position 1
void controller() {
  auto robot = isochron::attach();
  double before = 0;
  while (auto now = robot.wait(milliseconds(number(0, 10)))) {
    const auto position = robot.read<double>("position");
    if (const double ms = number(1, 0); ms > 0) compute(ms);
    robot.write("thrust", 4 * (1 - position) - 40 * (position - before));
    before = position;
  }
}

// planner [computing ms]: best effort, sends what it saw
void planner() {
  auto robot = isochron::attach();
  for (;;) {
    const auto position = robot.read<double>("position");
    compute(number(0, 3));
    robot.send("", position);
    if (!robot.wait_until(robot.now() + 100us)) return;
  }
}

// follower [period ms]: a controller that takes over what a planner sends
void follower() {
  auto robot = isochron::attach();
  while (auto now = robot.wait(milliseconds(number(0, 10)))) {
    while (auto plan = robot.receive<double>()) {
      if (plan->sent > robot.now()) std::_Exit(66);  // before it was sent
      robot.write("thrust", 1 - plan->value);
    }
  }
}

// asker / answerer: a question and its answer, both blocking
void asker() {
  auto robot = isochron::attach();
  for (int i = 0; i < 20; ++i) {
    robot.send("answerer", i);
    const auto answer = robot.receive_until<int>("answerer", SimTime::never());
    if (!answer) return;
    if (answer->value != i * i) std::_Exit(65);
    robot.log("answer " + std::to_string(answer->value));
  }
  while (robot.wait(10ms)) {
  }
}
void answerer() {
  auto robot = isochron::attach();
  while (auto question = robot.receive_until<int>("asker", SimTime::never())) {
    compute(number(0, 0));
    robot.send("asker", question->value * question->value);
  }
}

// clockwatcher [limit ms]: an anytime planner, improves until its time is up
void clockwatcher() {
  auto robot = isochron::attach();
  for (;;) {
    const SimTime start = robot.now();
    int rounds = 0;
    while (robot.now() - start < milliseconds(number(0, 5))) {
      compute(0.05);
      ++rounds;
    }
    robot.log("rounds " + std::to_string(rounds) + " seed " + std::to_string(robot.now().ns() % 1000));
    if (!robot.wait(10ms)) return;
  }
}

// threads: one computes, one waits by itself, the first waits for both
void threads() {
  auto robot = isochron::attach();
  std::thread waits([&] {
    for (int i = 0; i < 10 && robot.wait(5ms); ++i) robot.log("tick");
  });
  std::thread computes([&] {
    compute(12);
    robot.log("computed");
  });
  computes.join();
  waits.join();
  robot.log("joined");
}

// meet FILE ME OTHER: in each activation waits, computing, until the other is in the same one. Outside of simulated
// time: two that execute one after the other never meet.
void meet() {
  auto robot = isochron::attach();
  const int file = open(arguments.at(0).c_str(), O_RDWR);
  auto* counts = static_cast<std::atomic<int>*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  std::atomic<int>& mine = counts[static_cast<int>(number(1, 0))];
  const std::atomic<int>& other = counts[static_cast<int>(number(2, 1))];
  while (robot.wait(10ms)) {
    const auto position = robot.read<double>("position");
    const int round = ++mine;
    for (const auto end = std::chrono::steady_clock::now() + 20s; other < round;) {
      if (std::chrono::steady_clock::now() > end) std::_Exit(67);
    }
    robot.write("thrust", 1 - position);
  }
}

void spin() {
  isochron::attach();
  for (;;) spend(1000);
}
void spin_deaf() {
  for (int i = 1; i < 32; ++i) signal(i, SIG_IGN);
  spin();
}
void crash() {
  auto robot = isochron::attach();
  robot.wait(10ms);
  robot.wait(10ms);
  std::puts("about to crash");
  std::fflush(stdout);
  raise(SIGSEGV);
}
void quit() {
  auto robot = isochron::attach();
  robot.wait(10ms);
  robot.wait(10ms);
  std::exit(static_cast<int>(number(0, 3)));
}
void forks() {
  auto robot = isochron::attach();
  if (fork() == 0) {
    setsid();
    if (fork() == 0) {
      for (;;) pause();
    }
    for (;;) spend(1000);
  }
  while (robot.wait(10ms)) {
  }
}
void prints() {
  [[maybe_unused]] const auto robot = isochron::attach();
  const std::string line(1000, 'x');
  for (;;) std::puts(line.c_str());
}
void writes_nan() {
  auto robot = isochron::attach();
  while (robot.wait(10ms)) robot.write("thrust", std::numeric_limits<double>::quiet_NaN());
}
void writes_wrong() {
  auto robot = isochron::attach();
  robot.wait(10ms);
  robot.write("thrust", 1.0f);
}
void allocates() {
  auto robot = isochron::attach();
  robot.wait(10ms);
  for (;;) {
    auto* more = new char[1 << 20];
    std::memset(more, 1, 1 << 20);
  }
}
// blocks [ms]: in a call that nobody mediates
void blocks() {
  auto robot = isochron::attach();
  while (robot.wait(20ms)) {
    const auto ns = static_cast<long>(number(0, 3) * 1e6);
    const timespec span{0, ns};
    nanosleep(&span, nullptr);
    robot.log("slept");
  }
}
void hangs() {
  auto robot = isochron::attach();
  robot.wait(10ms);
  for (;;) pause();
}
void closes_link() {
  auto robot = isochron::attach();
  robot.wait(10ms);
  for (int i = 3; i < 100; ++i) close(i);
  while (robot.wait(10ms)) {
  }
}
void scribbles() {  // over the request's own size and texts
  auto robot = isochron::attach();
  const char* where = std::getenv("ISOCHRON");
  const int pages = std::atoi(where + 4);
  auto* at = static_cast<unsigned char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, pages, 4096));
  robot.wait(10ms);
  for (std::size_t i = 16; i < 8192; ++i) at[i] = 0xff;
  robot.wait(10ms);
}
void lists_nonsense() {  // several variables whose list or values are anything
  auto robot = isochron::attach();
  std::string why;
  const auto transport = isochron::client::open_transport(std::getenv("ISOCHRON"), why);
  std::uint64_t random = 1;
  std::vector<std::uint32_t> words(3000), answer(200'000);
  robot.wait(10ms);
  for (int i = 0; i < 400; ++i) {
    for (std::uint32_t& word : words) {
      random = random * 6364136223846793005 + 1442695040888963407;
      word = static_cast<std::uint32_t>(random >> 33) % (i % 3 == 0 ? 4 : i % 3 == 1 ? 300 : UINT32_MAX);
    }
    isochron::protocol::Exchange exchange;
    exchange.ask =
        static_cast<std::uint32_t>(i % 2 == 0 ? isochron::protocol::Ask::read : isochron::protocol::Ask::write);
    exchange.index = isochron::protocol::several;
    const std::size_t size = static_cast<std::size_t>(random >> 40) % (4 * words.size());
    transport->ask(exchange, {words.data(), size, answer.data(), 4 * answer.size()}, why);
  }
  robot.log("it is all the same to me");
  robot.wait(10ms);
}
// Computes so many microseconds each time, and says in the end how many cores of this machine it may use.
void dwells() {
  auto robot = isochron::attach();
  const auto us = std::chrono::microseconds(std::atoi(arguments.at(0).c_str()));
  for (int i = 0; i < 200 && robot.wait(1ms); ++i) {
    const auto end = std::chrono::steady_clock::now() + us;
    while (std::chrono::steady_clock::now() < end) {
    }
  }
  cpu_set_t cores;
  sched_getaffinity(0, sizeof cores, &cores);
  robot.log(std::to_string(CPU_COUNT(&cores)));
  while (robot.wait(1ms)) {
  }
}
void silent() {
  for (;;) pause();
}
void asks_at_once() {
  auto robot = isochron::attach();
  for (;;) robot.read<double>("position");
}

const std::map<std::string, std::function<void()>> behaviours{
    {"controller", controller},
    {"planner", planner},
    {"follower", follower},
    {"asker", asker},
    {"answerer", answerer},
    {"spin", spin},
    {"spin_deaf", spin_deaf},
    {"crash", crash},
    {"dwells", dwells},
    {"quit", quit},
    {"forks", forks},
    {"prints", prints},
    {"writes_nan", writes_nan},
    {"allocates", allocates},
    {"blocks", blocks},
    {"hangs", hangs},
    {"closes_link", closes_link},
    {"scribbles", scribbles},
    {"lists_nonsense", lists_nonsense},
    {"silent", silent},
    {"threads", threads},
    {"meet", meet},
    {"writes_wrong", writes_wrong},
    {"clockwatcher", clockwatcher},
    {"asks_at_once", asks_at_once},
};

}  // namespace

int main(int count, char** values) {
  const auto behaviour = behaviours.find(count > 1 ? values[1] : "");
  if (behaviour == behaviours.end()) return 64;
  for (int i = 2; i < count; ++i) arguments.emplace_back(values[i]);
  try {
    behaviour->second();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
