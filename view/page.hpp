#pragma once
// The files of the web page (viewer/, built by Vite), inside the binary: `isochron view` needs no folder of its own and
// no network.

#include <optional>
#include <string_view>

namespace isochron::view {

struct PageFile {
  std::string_view bytes;
  const char* type;
};

/// "/" and "/index.html", "/viewer.js", "/viewer.css".
std::optional<PageFile> page_file(std::string_view path);

}  // namespace isochron::view
