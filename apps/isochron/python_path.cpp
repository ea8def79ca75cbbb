#include "apps/isochron/python_path.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

namespace isochron::app {

void offer_python_package() {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return;
  // As installed, and in a source tree: build/PRESET/bin.
  for (const char* place : {"../share/isochron/python", "../../../client/python"}) {
    const std::filesystem::path package = std::filesystem::weakly_canonical(here / place, error);
    if (error || !std::filesystem::exists(package / "isochron" / "__init__.py", error)) continue;
    const char* known = std::getenv("PYTHONPATH");
    const std::string path = (known == nullptr || *known == 0 ? "" : std::string(known) + ":") + package.string();
    setenv("PYTHONPATH", path.c_str(), 1);
    break;
  }
  for (const char* place : {"../lib/libisochron_client.so", "../lib/x86_64-linux-gnu/libisochron_client.so"}) {
    const std::filesystem::path library = std::filesystem::weakly_canonical(here / place, error);
    if (error || !std::filesystem::exists(library, error)) continue;
    setenv("ISOCHRON_CLIENT", library.c_str(), 0);
    break;
  }
}

}  // namespace isochron::app
