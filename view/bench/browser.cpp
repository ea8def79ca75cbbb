#include "view/bench/browser.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace isochron::bench {
namespace {

const std::string script = std::string(ISOCHRON_NPM) + "/view_bench.mjs";

bool installed() {
  const char* other = std::getenv("CHROMIUM");
  return std::filesystem::exists(other != nullptr ? other : "/usr/bin/chromium") && std::filesystem::exists(script) &&
         std::filesystem::exists(std::string(ISOCHRON_NPM) + "/node_modules/playwright-core");
}

}  // namespace

Browser::Browser() {
  int down[2], up[2];
  if (!installed() || ::pipe2(down, O_CLOEXEC) != 0 || ::pipe2(up, O_CLOEXEC) != 0) return;
  process_ = ::fork();
  if (process_ == 0) {
    ::dup2(down[0], 0);
    ::dup2(up[1], 1);
    ::execlp("node", "node", script.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(down[0]);
  ::close(up[1]);
  to_ = ::fdopen(down[1], "w");
  from_ = ::fdopen(up[0], "r");
}

Browser::~Browser() {
  if (to_ != nullptr) std::fclose(to_);  // it ends at the end of its input
  if (process_ > 0) ::waitpid(process_, nullptr, 0);
  if (from_ != nullptr) std::fclose(from_);
}

double Browser::ask(const std::string& request) {
  std::fprintf(to_, "%s\n", request.c_str());
  std::fflush(to_);
  char line[64];
  return std::fgets(line, sizeof line, from_) != nullptr ? std::strtod(line, nullptr) : -1;
}

}  // namespace isochron::bench
