// `isochron serve agents`: the dynamics server.

#include <atomic>
#include <nlohmann/json.hpp>

#include "agents/server.hpp"
#include "apps/isochron/command.hpp"
#include "apps/isochron/interrupts.hpp"
#include "apps/isochron/link_flags.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/contained.hpp"
#include "core/foreign_text.hpp"
#include "core/time_text.hpp"
#include "link/reactor.hpp"
#include "link/resolve.hpp"
#include "run/agents_run.hpp"

namespace isochron::app {
namespace {

using namespace std::chrono_literals;

struct Flags {
  std::string file, at = "127.0.0.1:7420", heartbeat;
  unsigned handlers = 0, wait_for = 0;
  bool json = false, quiet = false;
  KeyFlags key;
  FaultFlags faults;
};

std::atomic<link::EpollReactor*> serving{nullptr};
void stop_serving() {
  if (link::EpollReactor* reactor = serving.load()) reactor->stop();
}

std::string line(const agents::ServerReport& report) {
  std::string text = "at " + format_ns_short(report.minimum.ns()) + "  " + std::to_string(report.in_world) + " of " +
                     std::to_string(report.clients) + " clients in the world, " + std::to_string(report.agents) +
                     " agents  " + human(static_cast<double>(report.counts.datagrams)) + " datagrams in, " +
                     human(static_cast<double>(report.sent)) + " out";
  for (std::size_t i = 0; i < agents::drop_kinds; ++i) {
    if (report.counts.dropped[i] == 0) continue;
    text += ", " + human(static_cast<double>(report.counts.dropped[i])) + " " +
            agents::to_string(static_cast<agents::Drop>(i));
  }
  return text;
}

std::string as_json(const agents::ServerReport& report) {
  nlohmann::ordered_json dropped;
  for (std::size_t i = 0; i < agents::drop_kinds; ++i) {
    dropped[agents::to_string(static_cast<agents::Drop>(i))] = report.counts.dropped[i];
  }
  return json_text(nlohmann::ordered_json{{"sim_time_s", report.minimum.seconds()},
                                          {"clients", report.clients},
                                          {"in_world", report.in_world},
                                          {"agents", report.agents},
                                          {"strangers", report.strangers},
                                          {"datagrams_in", report.counts.datagrams},
                                          {"datagrams_out", report.sent},
                                          {"dropped", dropped},
                                          {"joined", report.map.joined},
                                          {"left", report.map.left},
                                          {"shot_down", report.map.shot_down},
                                          {"returned", report.map.returned},
                                          {"stalled", report.map.stalled},
                                          {"fenced", report.map.fenced}});
}

/// Shows how things are, twice a second.
class Display {
 public:
  Display(Reactor& reactor, const agents::Server& server) : reactor_(reactor), server_(server) { show(); }
  ~Display() { reactor_.cancel(timer_); }

 private:
  void show() {
    status_.show(line(server_.report()));
    timer_ = reactor_.call_at(reactor_.now() + WallSpan(500ms), [this] { show(); });
  }
  Reactor& reactor_;
  const agents::Server& server_;
  StatusLine status_;
  Reactor::TimerId timer_ = 0;
};

Address address_of(const std::string& text) {
  const auto found = link::resolve(text);
  if (!found) throw InputError({"--at " + text, 0, 0}, found.error().what);
  return found->front();
}

int serve(const Flags& flags) {
  agents::ServerSettings settings;
  if (!flags.file.empty()) {
    const Scenario scenario = load_scenario(flags.file);
    if (!scenario.agents) throw InputError({flags.file, 0, 0}, "has no `agents`", "see docs/agents.md");
    settings = server_settings(scenario);
  }
  if (!flags.heartbeat.empty()) {
    const auto heartbeat = parse_ns(flags.heartbeat);
    if (!heartbeat || *heartbeat <= 0)
      throw InputError({"--heartbeat", 0, 0}, "is not a time", "as in --heartbeat 10ms");
    settings.world.heartbeat = SimSpan::from_ns(*heartbeat);
  }
  settings.handlers = flags.handlers;
  const link::Key key = key_of(flags.key);
  link::EpollReactor reactor;
  link::FaultyReactor network(reactor, faults_of(flags.faults), "server");  // on top of what clients have
  agents::Server server(network, key, address_of(flags.at), settings);
  if (flags.wait_for > 0) server.expect(flags.wait_for, WallSpan(std::chrono::hours(24)));
  print("serving agents at " + to_string(server.address()) + ", heartbeat " + to_string(settings.world.heartbeat) +
        "\n");
  std::fflush(stdout);
  serving = &reactor;
  on_interrupt(stop_serving);
  {
    std::optional<Display> display;
    if (!flags.json && !flags.quiet) display.emplace(reactor, server);
    contained_until_done("the agents' server", [&] { reactor.run(); });
  }
  serving = nullptr;
  print((flags.json ? as_json(server.report()) : line(server.report())) + "\n");
  return exit_fine;
}

}  // namespace

void add_serve_agents(CLI::App& serve_verb, Action& action) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = serve_verb.add_subcommand("agents", "one world for the agents of many clients (isochron join)");
  verb->add_option("FILE", flags->file, "scenario with `agents`; left out: any clients, default settings");
  verb->add_option("--at", flags->at, "address and port; port 0 = any")->type_name("HOST:PORT")->capture_default_str();
  verb->add_option("--heartbeat", flags->heartbeat, "instead of the scenario's")->type_name("TIME");
  verb->add_option("--handlers", flags->handlers, "threads that check datagrams; 0 = only the world's own")
      ->check(CLI::Range(0, 64));
  verb->add_option("--wait-for", flags->wait_for, "time begins when so many clients are there")->type_name("N");
  add_key_flags(*verb, flags->key);
  add_fault_flags(*verb, flags->faults);
  verb->add_flag("--json", flags->json, "end with one JSON object");
  verb->add_flag("--quiet", flags->quiet, "show nothing while serving");
  verb->callback([&action, flags] { action = [flags] { return serve(*flags); }; });
}

}  // namespace isochron::app
