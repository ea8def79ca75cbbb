// `isochron serve comm`: the communication server of a scenario whose agents talk by radio.

#include "apps/isochron/link_flags.hpp"
#include "apps/isochron/run.hpp"
#include "apps/isochron/terminal.hpp"
#include "link/resolve.hpp"
#include "run/agents_run.hpp"

namespace isochron::app {
namespace {

struct Flags {
  RunFlags run;
  std::string at = "127.0.0.1:7421";
  KeyFlags key;
};

int serve(const Flags& flags) {
  const auto at = link::resolve(flags.at);
  if (!at) throw InputError({"--at " + flags.at, 0, 0}, at.error().what);
  const link::Key key = key_of(flags.key);
  RunOptions options;
  options.instead = [&](const Scenario& scenario, const RunOptions& how, Clock& clock, Disk& disk, RunWatch& watch) {
    RunOptions named = how;
    if (named.journal.empty()) named.journal = scenario.name + "_comm.mcap";
    return serve_comm(scenario, key, at->front(), named, clock, disk, watch, [](const Address& address) {
      print("serving the radio at " + to_string(address) + "\n");
      std::fflush(stdout);
    });
  };
  return run_file(flags.run, {}, options);
}

}  // namespace

void add_serve_comm(CLI::App& serve_verb, Action& action) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = serve_verb.add_subcommand(
      "comm",
      "the radio between agents of several processes (isochron join --comm); ends when all were there and have left");
  add_run_flags(*verb, flags->run);
  verb->add_option("--at", flags->at, "address and port; port 0 = any")->type_name("HOST:PORT")->capture_default_str();
  add_key_flags(*verb, flags->key);
  verb->callback([&action, flags] { action = [flags] { return serve(*flags); }; });
}

}  // namespace isochron::app
