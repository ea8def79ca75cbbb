#include "view/page.hpp"

// The assembler puts the files in as they are. ISOCHRON_PAGE_DIR is where Vite left them; a rebuild of the page
// rebuilds this file (see CMakeLists.txt).
#define ISOCHRON_EMBED(name, file)                                                           \
  __asm__(".section .rodata\n" #name ":\n.incbin \"" ISOCHRON_PAGE_DIR "/" file "\"\n" #name \
          "_end:\n.byte 0\n.previous\n");                                                    \
  extern "C" const char name[] __attribute__((visibility("hidden")));                        \
  extern "C" const char name##_end[] __attribute__((visibility("hidden")))

ISOCHRON_EMBED(isochron_page_html, "index.html");
ISOCHRON_EMBED(isochron_page_js, "viewer.js");
ISOCHRON_EMBED(isochron_page_css, "viewer.css");

namespace isochron::view {
namespace {

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

}  // namespace

std::optional<PageFile> page_file(std::string_view path) {
  if (path == "/" || path == "/index.html")
    return PageFile{between(isochron_page_html, isochron_page_html_end), "text/html; charset=utf-8"};
  if (path == "/viewer.js")
    return PageFile{between(isochron_page_js, isochron_page_js_end), "text/javascript; charset=utf-8"};
  if (path == "/viewer.css")
    return PageFile{between(isochron_page_css, isochron_page_css_end), "text/css; charset=utf-8"};
  return std::nullopt;
}

}  // namespace isochron::view
