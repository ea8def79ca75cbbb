#include "bridge/fmi/archive.hpp"

#include <sys/stat.h>
#include <zip.h>

#include <algorithm>
#include <fstream>

#include "core/foreign_text.hpp"
#include "core/input_error.hpp"

namespace isochron::fmi {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t harmless = 64U << 20U;  // below this nobody asks how well it was packed
constexpr std::uint64_t best_ratio = 1000;

/// Whether a name stays below the folder that it is unpacked to.
bool stays_inside(const std::string& name) {
  if (name.empty() || name.front() == '/' || name.find('\\') != std::string::npos) return false;
  if (name.size() > 1 && name[1] == ':') return false;
  if (name.find('\0') != std::string::npos) return false;
  const fs::path path(name);
  return std::none_of(path.begin(), path.end(), [](const fs::path& part) { return part == ".."; });
}

}  // namespace

struct Archive::Handle {
  explicit Handle(zip_t* opened) : zip(opened) {}
  ~Handle() { zip_discard(zip); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  zip_t* zip;
};

Archive::~Archive() = default;
Archive::Archive(Archive&&) noexcept = default;
Archive& Archive::operator=(Archive&&) noexcept = default;

Archive::Archive(std::string file, std::unique_ptr<Handle> handle)
    : file_(std::move(file)), handle_(std::move(handle)) {
  check_entries();
}

Archive Archive::open(const std::string& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) throw InputError({file, 0, 0}, "there is no such file");
  if (!fs::is_regular_file(file, ignored)) throw InputError({file, 0, 0}, "is not a file", "name an FMU");
  int code = 0;
  zip_t* zip = zip_open(file.c_str(), ZIP_RDONLY, &code);
  if (zip == nullptr) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string why = zip_error_strerror(&error);
    zip_error_fini(&error);
    throw InputError({file, 0, 0}, "cannot be read as an FMU: " + why, "an FMU is a zip file");
  }
  return {file, std::make_unique<Handle>(zip)};
}

Archive Archive::of_bytes(std::span<const std::byte> bytes, const std::string& name) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  zip_t* zip = source == nullptr ? nullptr : zip_open_from_source(source, ZIP_RDONLY, &error);
  if (zip == nullptr) {
    if (source != nullptr) zip_source_free(source);
    const std::string why = zip_error_strerror(&error);
    zip_error_fini(&error);
    throw InputError({name, 0, 0}, "cannot be read as an FMU: " + why, "an FMU is a zip file");
  }
  zip_error_fini(&error);
  return {name, std::make_unique<Handle>(zip)};
}

void Archive::refuse(const std::string& what, const std::string& hint) const {
  throw InputError({file_, 0, 0}, what, hint);
}

void Archive::check_entries() {
  const zip_int64_t count = zip_get_num_entries(handle_->zip, 0);
  if (count < 0 || static_cast<std::uint64_t>(count) > most_entries) {
    refuse("has " + std::to_string(count) + " files; at most " + std::to_string(most_entries) + " are read");
  }
  std::uint64_t size = 0, packed = 0;
  for (zip_uint64_t i = 0; i < static_cast<zip_uint64_t>(count); ++i) {
    zip_stat_t about;
    if (zip_stat_index(handle_->zip, i, 0, &about) != 0 || (about.valid & ZIP_STAT_NAME) == 0) {
      refuse("its list of files cannot be read");
    }
    const std::string name = about.name;
    if (!stays_inside(name)) {
      refuse("has a file called `" + foreign_name(name) + "`, which would lie outside the folder it is unpacked to",
             "this may be an attack; ask who made it");
    }
    if (name.ends_with('/')) continue;
    if ((about.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && about.encryption_method != ZIP_EM_NONE) {
      refuse("`" + foreign_name(name) + "` is encrypted");
    }
    size += std::min(about.size, most_unpacked + 1);
    packed += about.comp_size;
    names_.push_back(name);
  }
  if (size > most_unpacked) refuse("is larger than 2 GiB when it is unpacked");
  if (size > harmless && size / best_ratio > packed) {
    refuse("claims to hold " + std::to_string(size) + " bytes in " + std::to_string(packed),
           "this may be an attack; ask who made it");
  }
}

bool Archive::has(const std::string& name) const { return std::ranges::find(names_, name) != names_.end(); }

template <class Take>
void Archive::read_chunks(const std::string& name, std::uint64_t most, Take&& take) const {
  zip_file_t* stream = zip_fopen(handle_->zip, name.c_str(), 0);
  const std::string shown = "`" + foreign_name(name) + "`";
  if (stream == nullptr) refuse(shown + " cannot be read: " + zip_strerror(handle_->zip));
  zip_stat_t about;
  zip_stat_init(&about);
  zip_stat(handle_->zip, name.c_str(), 0, &about);
  std::vector<char> chunk(64U << 10U);
  std::uint64_t total = 0;
  zip_int64_t came = 0;
  while ((came = zip_fread(stream, chunk.data(), chunk.size())) > 0) {
    total += static_cast<std::uint64_t>(came);
    if (total > most || total > about.size) break;
    take(std::string_view(chunk.data(), static_cast<std::size_t>(came)));
  }
  const std::string why = came < 0 ? zip_file_strerror(stream) : "";
  zip_fclose(stream);
  if (came < 0) refuse(shown + " is damaged: " + why);
  if (total > most && about.size > most) refuse(shown + " is larger than " + std::to_string(most) + " bytes");
  if (total != about.size)
    refuse(shown + " is not of the size that it claims, " + std::to_string(about.size) + " bytes");
}

std::string Archive::read(const std::string& name, std::uint64_t most) const {
  std::string all;
  read_chunks(name, most, [&](std::string_view part) { all += part; });
  return all;
}

void Archive::unpack_one(const std::string& name, const fs::path& target) const {
  const zip_int64_t index = zip_name_locate(handle_->zip, name.c_str(), 0);
  zip_uint8_t system = 0;
  zip_uint32_t attributes = 0;
  zip_file_get_external_attributes(handle_->zip, static_cast<zip_uint64_t>(index), 0, &system, &attributes);
  const mode_t mode = system == ZIP_OPSYS_UNIX ? attributes >> 16U : 0;
  if (S_ISLNK(mode)) refuse("`" + foreign_name(name) + "` is a link, which is not unpacked");
  std::error_code failed;
  fs::create_directories(target.parent_path(), failed);
  std::ofstream out(target, std::ios::binary | std::ios::trunc);
  read_chunks(name, most_unpacked, [&](std::string_view part) { out << part; });
  out.close();
  if (!out) refuse("`" + foreign_name(name) + "` cannot be written to " + target.string());
  if ((mode & S_IXUSR) != 0) ::chmod(target.c_str(), 0700);
}

void Archive::unpack(const std::string& prefix, const fs::path& folder) const {
  for (const std::string& name : names_) {
    if (name.starts_with(prefix)) unpack_one(name, folder / name);
  }
}

}  // namespace isochron::fmi
