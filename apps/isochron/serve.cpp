// `isochron serve`: what others connect to.

#include "apps/isochron/command.hpp"

namespace isochron::app {

void add_serve(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("serve", "serve a world that others join");
  verb->require_subcommand(1);
  add_serve_agents(*verb, action);
}

}  // namespace isochron::app
