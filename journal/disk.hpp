#pragma once
// The real disk: core's Disk on POSIX. Every error names the path and says in words what the system said, because it is
// shown to a person who has to free space or change a folder's rights.
//
// Promises: create() gives a file that grows only at its end. rename() is atomic, and lasting once it returns.
// Threads:  PosixDisk any; a file one at a time.
// Cost:     one system call for each call; sync() waits for the device.
// Fails:    what was appended before stays; after a short write the rest may be tried again.

#include "core/disk.hpp"

namespace isochron {

class PosixDisk final : public Disk {
 public:
  Result<std::unique_ptr<File>, DiskError> create(const std::string& path) override;
  /// For reading only; append() then fails with read_only.
  Result<std::unique_ptr<File>, DiskError> open(const std::string& path) override;
  Result<Done, DiskError> rename(const std::string& from, const std::string& to) override;
  Result<Done, DiskError> remove(const std::string& path) override;
};

/// What an errno means for a file: ENOSPC -> full, EROFS -> read_only, EACCES -> denied, ENOENT -> not_found …
DiskFault disk_fault(int system_error);

}  // namespace isochron
