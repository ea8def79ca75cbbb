// `isochron join`: one client's share of a scenario with agents, in a world that somebody serves.

#include <algorithm>

#include "apps/isochron/run.hpp"
#include "link/resolve.hpp"
#include "run/agents_run.hpp"

namespace isochron::app {
namespace {

struct Flags {
  RunFlags run;
  std::string server = "127.0.0.1:7420", comm, as, updates = "automatic";
  KeyFlags key;
};

agents::wire::Updates updates_of(const std::string& word) {
  const auto& words = Words<AgentUpdates>::list;
  const auto found = std::find(words.begin(), words.end(), word);
  return static_cast<agents::wire::Updates>(found - words.begin());
}

RunReport join(const Flags& flags, const link::Key& key, const Address& server, const std::optional<Address>& comm,
               const Scenario& scenario, const RunOptions& how, Clock& clock, Disk& disk, RunWatch& watch) {
  if (!scenario.agents) throw InputError({flags.run.file, 0, 0}, "has no `agents`", "see docs/agents.md");
  JoinOptions options;
  options.server = server;
  options.comm = comm;
  options.client = flags.as;
  options.updates = updates_of(flags.updates);
  RunOptions named = how;
  if (named.journal.empty()) named.journal = scenario.name + "_" + flags.as + ".mcap";
  return join_scenario(scenario, key, options, named, clock, disk, watch);
}

int join(const Flags& flags) {
  const auto server = link::resolve(flags.server);
  if (!server) throw InputError({"--server " + flags.server, 0, 0}, server.error().what);
  std::optional<Address> comm;
  if (!flags.comm.empty()) {
    const auto found = link::resolve(flags.comm);
    if (!found) throw InputError({"--comm " + flags.comm, 0, 0}, found.error().what);
    comm = found->front();
  }
  const link::Key key = key_of(flags.key);
  RunOptions options;
  options.instead = [&](const Scenario& scenario, const RunOptions& how, Clock& clock, Disk& disk, RunWatch& watch) {
    return join(flags, key, server->front(), comm, scenario, how, clock, disk, watch);
  };
  return run_file(flags.run, {}, options);
}

}  // namespace

void add_join(CLI::App& app, Action& action) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("join", "simulate one client's agents of a scenario in a world served elsewhere");
  add_run_flags(*verb, flags->run);
  verb->add_option("--as", flags->as, "which client of the scenario this is")->required()->type_name("CLIENT");
  verb->add_option("--server", flags->server, "where the world is served")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  verb->add_option("--comm", flags->comm, "where the radio of a scenario with `v2x` is served; none = it is silent")
      ->type_name("HOST:PORT");
  verb->add_option("--updates", flags->updates, "what to be told")
      ->check(CLI::IsMember({"automatic", "single", "whole", "vicinity"}))
      ->capture_default_str();
  add_key_flags(*verb, flags->key);
  verb->callback([&action, flags] { action = [flags] { return join(*flags); }; });
}

}  // namespace isochron::app
