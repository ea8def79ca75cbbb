#pragma once
// An FMU as this machine can use it: its archive is unpacked once in a process, into a folder of its own, whatever the
// number of nodes made from it.
//
// Promises: the folder is removed when the process ends. One that a killed process left behind is removed by the next
//           process that unpacks an FMU.
// Threads:  any.
// Fails:    InputError, with the file.

#include <memory>
#include <string>
#include <vector>

#include "bridge/fmi/archive.hpp"
#include "bridge/fmi/description.hpp"

namespace isochron::fmi {

/// What the archive holds, read without unpacking.
Description description_of(const Archive& archive);
/// For which platforms it has binaries, as its folders are called: "linux64", "x86_64-windows".
std::vector<std::string> platforms_of(const Archive& archive);
/// How this machine's platform is called in that version; "" = not at all.
std::string platform_here(Version version);

class Package {
 public:
  explicit Package(const std::string& file);
  ~Package();
  Package(const Package&) = delete;
  Package& operator=(const Package&) = delete;

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] const Description& description() const { return description_; }

 private:
  std::string file_;
  std::string folder_;
  Description description_;
  int owner_;
};

/// The one of this process. A file that changed since is unpacked again.
std::shared_ptr<const Package> open_package(const std::string& file);

}  // namespace isochron::fmi
