#include "apps/isochron/run.hpp"
#include "apps/isochron/terminal.hpp"

namespace isochron::app {
namespace {

struct ServeFlags {
  RunFlags run;
  std::string listen, key;
  std::vector<std::string> serial;
  bool no_sync = false;
  bool start = false;
};

/// How a person starts the targets that are awaited.
void tell(const std::string& address, const std::vector<std::string>& targets) {
  std::string text = "listening on " + address + "; start each target with its name:\n";
  for (const std::string& target : targets) text += "  ISOCHRON=tcp://" + address + "/" + target + " ./PROGRAM\n";
  say(text);
}

int serve(const ServeFlags& flags) {
  std::vector<Override> set{{"time.mode", "hil"}, {"hil.start", flags.start ? "true" : "false"}};
  if (!flags.listen.empty()) {
    set.push_back({"hil.listen", flags.listen});
  } else if (load_scenario(flags.run.file).hil.listen.empty()) {
    set.push_back({"hil.listen", "127.0.0.1:7410"});
  }
  if (!flags.serial.empty()) {
    std::string lines;
    for (const std::string& line : flags.serial) lines += (lines.empty() ? "" : ", ") + line;
    set.push_back({"hil.serial", "[" + lines + "]"});
  }
  if (!flags.key.empty()) set.push_back({"hil.key", flags.key});
  if (flags.no_sync) set.push_back({"hil.sync", "false"});
  RunOptions options;
  if (!flags.run.quiet) options.on_listening = tell;  // on standard error, so --json stays clean
  return run_file(flags.run, set, options);
}

}  // namespace

void add_serve(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* verb = app.add_subcommand("serve",
                                      "hardware in the loop: run a scenario's world for targets that connect over TCP "
                                      "or serial lines, and keep time with them");
  add_run_flags(*verb, flags->run);
  verb->add_option("--listen", flags->listen, "where targets connect to; as the scenario says, or 127.0.0.1:7410")
      ->type_name("ADDRESS");
  verb->add_option("--serial", flags->serial,
                   "a serial line on which targets come too, as /dev/ttyACM0:921600; may be given again")
      ->type_name("DEVICE:BAUD")
      ->allow_extra_args(false);
  verb->add_option("--key", flags->key, "file with the key that targets must hold; needed beyond this machine")
      ->type_name("FILE");
  verb->add_flag("--no-sync", flags->no_sync, "do not hold answers back, for comparison");
  verb->add_flag("--start", flags->start, "start those targets here that have `run`");
  add_serve_agents(*verb, action);
  add_serve_comm(*verb, action);
  add_serve_fmu(*verb, action);
  verb->get_option("FILE")->required(false);  // `serve agents` and `serve comm` have one of their own
  verb->callback([&action, flags, verb] {
    if (!verb->get_subcommands().empty()) return;
    if (flags->run.file.empty()) throw CLI::RequiredError("FILE");
    action = [flags] { return serve(*flags); };
  });
}

}  // namespace isochron::app
