#include "journal/file_hashes.hpp"

#include <elf.h>
#include <link.h>
#include <xxhash.h>

#include <cstring>
#include <fstream>
#include <iterator>

namespace isochron {
namespace {

std::string hex_of(const unsigned char* bytes, std::size_t count) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += digits[bytes[i] >> 4U];
    text += digits[bytes[i] & 15U];
  }
  return text;
}

/// The build id in a loaded library's notes; "" = none.
std::string build_id(const dl_phdr_info& library) {
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    const auto& part = library.dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const unsigned char*>(library.dlpi_addr + part.p_vaddr);
    const auto* end = at + part.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const auto* name = at + sizeof note;
      const auto* text = name + ((note.n_namesz + 3U) & ~3U);
      if (text + note.n_descsz > end) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
        return hex_of(text, note.n_descsz);
      }
      at = text + ((note.n_descsz + 3U) & ~3U);
    }
  }
  return "";
}

int add_library(dl_phdr_info* library, std::size_t, void* all) {
  const std::string path = library->dlpi_name;
  const std::string id = build_id(*library);
  if (!path.empty() && !id.empty()) {
    static_cast<mcap::TextMap*>(all)->emplace(path.substr(path.rfind('/') + 1), id);
  }
  return 0;
}

}  // namespace

std::string hash_of_text(std::string_view text) {
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(text.data(), text.size()));
  return hex_of(hash.digest, sizeof hash.digest);
}

mcap::TextMap hashes_of_files(const std::vector<std::string>& paths) {
  mcap::TextMap hashes;
  for (const std::string& path : paths) {
    std::ifstream in(path, std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(in), {}};
    if (!in) continue;
    hashes.emplace(path, hash_of_text(content));
  }
  return hashes;
}

mcap::TextMap builds_of_libraries() {
  mcap::TextMap builds;
  dl_iterate_phdr(add_library, &builds);
  return builds;
}

}  // namespace isochron
