#include "journal/disk.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace isochron {
namespace {

DiskError disk_error(int system_error, const char* doing, const std::string& path) {
  const DiskFault fault = disk_fault(system_error);
  std::string what = std::string("cannot ") + doing + " " + path + ": " + std::generic_category().message(system_error);
  if (fault == DiskFault::full) what += "; free some space or choose another folder";
  return {fault, std::move(what)};
}

class PosixFile final : public File {
 public:
  PosixFile(int descriptor, std::string path, bool writable)
      : descriptor_(descriptor), path_(std::move(path)), writable_(writable) {}
  ~PosixFile() override { ::close(descriptor_); }

  Result<std::size_t, DiskError> append(std::span<const std::byte> bytes) override {
    if (!writable_) return fail(DiskError{DiskFault::read_only, path_ + " was opened for reading"});
    if (bytes.empty()) return std::size_t{0};
    if (is_deleted()) return fail(DiskError{DiskFault::not_found, path_ + " was deleted while it was being written"});
    for (;;) {
      const ssize_t n = ::write(descriptor_, bytes.data(), bytes.size());
      if (n > 0) return static_cast<std::size_t>(n);
      if (n == 0) return fail(disk_error(ENOSPC, "write to", path_));
      if (errno != EINTR) return fail(disk_error(errno, "write to", path_));
    }
  }

  Result<std::size_t, DiskError> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    for (;;) {
      const ssize_t n = ::pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) return fail(disk_error(errno, "read", path_));
    }
  }

  Result<std::uint64_t, DiskError> size() override {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) return fail(disk_error(errno, "look at", path_));
    return static_cast<std::uint64_t>(status.st_size);
  }

  Result<Done, DiskError> sync() override {
    if (::fdatasync(descriptor_) != 0) return fail(disk_error(errno, "flush", path_));
    return done();
  }

 private:
  /// Nobody would ever see what goes into it.
  [[nodiscard]] bool is_deleted() const {
    struct stat status {};
    return ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0;
  }

  int descriptor_;
  std::string path_;
  bool writable_;
};

/// The name of a file is part of its folder: a rename lasts only when the folder is on the device.
void sync_folder_of(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}  // namespace

DiskFault disk_fault(int system_error) {
  switch (system_error) {
    case ENOENT:
    case ENOTDIR:
      return DiskFault::not_found;
    case EEXIST:
      return DiskFault::exists;
    case EACCES:
    case EPERM:
      return DiskFault::denied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return DiskFault::full;
    case EROFS:
      return DiskFault::read_only;
    default:
      return DiskFault::io;
  }
}

Result<std::unique_ptr<File>, DiskError> PosixDisk::create(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) return fail(disk_error(errno, "create", path));
  auto file = std::make_unique<PosixFile>(descriptor, path, true);
  // Emptied only once it is ours: two runs that write one file would leave neither.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return fail(
        DiskError{DiskFault::exists, "cannot create " + path + ": another run is writing it; choose another name"});
  }
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && ::ftruncate(descriptor, 0) != 0) {
    return fail(disk_error(errno, "empty", path));
  }
  return std::unique_ptr<File>(std::move(file));
}

Result<std::unique_ptr<File>, DiskError> PosixDisk::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return fail(disk_error(errno, "open", path));
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    return fail(DiskError{DiskFault::io, "cannot open " + path + ": it is not a regular file"});
  }
  return std::unique_ptr<File>(std::make_unique<PosixFile>(descriptor, path, false));
}

Result<Done, DiskError> PosixDisk::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return fail(disk_error(errno, "rename", from + " to " + to));
  sync_folder_of(to);
  return done();
}

Result<Done, DiskError> PosixDisk::remove(const std::string& path) {
  if (::unlink(path.c_str()) != 0) return fail(disk_error(errno, "remove", path));
  return done();
}

}  // namespace isochron
