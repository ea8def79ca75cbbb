// `isochron view`: a recorded run as a web page.

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "apps/isochron/command.hpp"
#include "apps/isochron/interrupts.hpp"
#include "apps/isochron/serve_view.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "journal/disk.hpp"
#include "view/recorded_source.hpp"
#include "view/view_server.hpp"

extern char** environ;

namespace isochron::app {
namespace {

/// A page that leads to the address, in a file that only this user can read: on a command line every user would see the
/// token. "" = no such file can be made.
std::string signpost_to(const std::string& address) {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  std::string path = std::string(runtime != nullptr ? runtime : "/tmp") + "/isochron-XXXXXX.html";
  const int file = mkostemps(path.data(), 5, O_CLOEXEC);  // 0600
  if (file < 0) return "";
  const std::string page = "<meta http-equiv=\"refresh\" content=\"0;url=" + address + "\">\n";
  const bool written = write(file, page.data(), page.size()) == static_cast<ssize_t>(page.size());
  close(file);
  return written ? path : "";
}

/// Gone with the command.
struct Signpost {
  std::string path;
  ~Signpost() {
    std::error_code ignored;
    if (!path.empty()) std::filesystem::remove(path, ignored);
  }
};

/// Asks the desktop to show the page; without a desktop nothing happens.
void open_browser(const std::string& address) {
  pid_t pid = 0;
  static Signpost signpost{signpost_to(address)};
  std::string opener = "xdg-open", where = signpost.path;
  if (where.empty()) return say(yellow("note: ") + "the browser cannot be opened; open the address yourself\n");
  char* arguments[] = {opener.data(), where.data(), nullptr};
  if (posix_spawnp(&pid, opener.c_str(), nullptr, nullptr, arguments, environ) != 0)
    say(yellow("note: ") + "xdg-open is not installed; open the address yourself\n");
}

struct Flags {
  std::string journal, at;
  ViewFlags view;
};

/// Where the page opens.
std::string fragment_of(const std::string& at) {
  if (at.empty()) return "";
  const auto ns = parse_ns(at);
  if (!ns.ok()) throw InputError({"--at " + at, 0, 0}, ns.error(), "as in --at 12.3s");
  char text[40];
  std::snprintf(text, sizeof text, "#t=%.9g", static_cast<double>(*ns) * 1e-9);
  return text;
}

int show(Flags& flags) {
  PosixDisk disk;
  flags.view.at = fragment_of(flags.at);
  auto source = view::RecordedSource::open(disk, flags.journal);
  if (!source.ok()) throw InputError({"", 0, 0}, source.error(), "");
  view::ViewServer handler(**source);
  const auto server = serve_view(handler, flags.view);
  wait_for_interrupt();
  return exit_fine;
}

}  // namespace

std::unique_ptr<view::WebServer> serve_view(view::WebHandler& handler, const ViewFlags& flags) {
  auto server = view::WebServer::start(handler, flags.port);
  if (!server.ok()) throw InputError({"--port", 0, 0}, server.error(), "leave --port out for any that is free");
  const std::string address = (*server)->address() + flags.at;
  // On stderr where the answer on stdout is JSON: a program reads one line either way.
  flags.json ? say("view " + address + "\n") : print("view " + bold(address) + "\n");
  if (flags.open) open_browser(address);
  return std::move(server).value();
}

void add_view(CLI::App& app, Action& action) {
  auto flags = std::make_shared<Flags>();
  CLI::App* verb = app.add_subcommand("view", "look at a recorded run in a web page: 3D world, plots, who did what");
  verb->add_option("JOURNAL", flags->journal, "what `isochron run` left")->required();
  verb->add_option("--port", flags->view.port, "of 127.0.0.1; any that is free if left out")->type_name("PORT");
  verb->add_option("--at", flags->at, "the time that the page opens at; the start if left out")->type_name("TIME");
  verb->add_flag("--open", flags->view.open, "open it in the desktop's browser");
  verb->callback([&action, flags] { action = [flags] { return show(*flags); }; });
}

}  // namespace isochron::app
