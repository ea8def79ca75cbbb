#include "testing/disk.hpp"

#include <algorithm>
#include <utility>

namespace isochron {

class SimulatedFile final : public File {
 public:
  SimulatedFile(SimulatedDisk& disk, std::shared_ptr<SimulatedDisk::Inode> inode, std::uint64_t life)
      : disk_(disk), inode_(std::move(inode)), life_(life) {}
  Result<std::size_t, DiskError> append(std::span<const std::byte> bytes) override {
    return disk_.append(*inode_, life_, bytes);
  }
  Result<std::size_t, DiskError> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    return disk_.read(*inode_, life_, offset, into);
  }
  Result<std::uint64_t, DiskError> size() override {
    const std::lock_guard lock(disk_.mutex_);
    return std::uint64_t{inode_->bytes.size()};
  }
  Result<Done, DiskError> sync() override { return disk_.sync(*inode_, life_); }

 private:
  SimulatedDisk& disk_;
  std::shared_ptr<SimulatedDisk::Inode> inode_;
  std::uint64_t life_;
};

SimulatedDisk::SimulatedDisk(std::uint64_t seed) : random_(seed, "disk") {}
SimulatedDisk::~SimulatedDisk() = default;

void SimulatedDisk::set_faults(const DiskFaults& faults) {
  const std::lock_guard lock(mutex_);
  faults_ = faults;
}

void SimulatedDisk::crash_after(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  power_left_ = bytes;
}

void SimulatedDisk::crash() {
  const std::lock_guard lock(mutex_);
  lose_power();
}

void SimulatedDisk::restart() {
  const std::lock_guard lock(mutex_);
  if (!crashed_) lose_power();
  crashed_ = false;
  ++life_;
}

bool SimulatedDisk::crashed() const {
  const std::lock_guard lock(mutex_);
  return crashed_;
}

void SimulatedDisk::lose_power() {
  if (std::exchange(crashed_, true)) return;
  power_left_.reset();
  for (auto& [path, inode] : files_) {
    const std::size_t unsynced = inode->bytes.size() - inode->synced;
    const std::size_t kept = faults_.keep_unsynced_prefix ? random_.below(unsynced + 1) : 0;
    inode->bytes.resize(inode->synced + kept);
    inode->synced = inode->bytes.size();
  }
}

std::optional<DiskError> SimulatedDisk::refuse(const std::string& path, bool writes) const {
  if (crashed_) return DiskError{DiskFault::io, path + ": the machine has crashed"};
  if (writes && faults_.read_only) return DiskError{DiskFault::read_only, path + ": the disk is read-only"};
  return std::nullopt;
}

std::uint64_t SimulatedDisk::used() const {
  std::uint64_t sum = 0;
  for (const auto& [path, inode] : files_) sum += inode->bytes.size();
  return sum;
}

Result<std::size_t, DiskError> SimulatedDisk::append(Inode& inode, std::uint64_t life,
                                                     std::span<const std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (life != life_) return fail(DiskError{DiskFault::io, inode.path + ": opened before the crash"});
  if (auto error = refuse(inode.path, true)) return fail(*error);
  std::size_t n = bytes.size();
  if (n > 1 && random_.chance(faults_.short_write)) n = 1 + random_.below(n - 1);
  if (faults_.capacity) n = std::min<std::uint64_t>(n, *faults_.capacity - std::min(*faults_.capacity, used()));
  if (n == 0 && !bytes.empty()) return fail(DiskError{DiskFault::full, inode.path + ": no space left on the disk"});
  const bool last = power_left_ && n >= *power_left_;
  if (last) n = *power_left_;
  inode.bytes.insert(inode.bytes.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
  if (last) {
    lose_power();
    return fail(*refuse(inode.path, true));
  }
  if (power_left_) *power_left_ -= n;
  return n;
}

Result<std::size_t, DiskError> SimulatedDisk::read(Inode& inode, std::uint64_t life, std::uint64_t offset,
                                                   std::span<std::byte> to) {
  const std::lock_guard lock(mutex_);
  if (life != life_) return fail(DiskError{DiskFault::io, inode.path + ": opened before the crash"});
  if (auto error = refuse(inode.path, false)) return fail(*error);
  if (random_.chance(faults_.read_error)) return fail(DiskError{DiskFault::io, inode.path + ": cannot be read"});
  if (offset >= inode.bytes.size()) return std::size_t{0};
  std::size_t n = std::min<std::uint64_t>(to.size(), inode.bytes.size() - offset);
  if (n > 1 && random_.chance(faults_.short_read)) n = 1 + random_.below(n - 1);
  std::copy_n(inode.bytes.begin() + static_cast<std::ptrdiff_t>(offset), n, to.begin());
  return n;
}

Result<Done, DiskError> SimulatedDisk::sync(Inode& inode, std::uint64_t life) {
  const std::lock_guard lock(mutex_);
  if (life != life_) return fail(DiskError{DiskFault::io, inode.path + ": opened before the crash"});
  if (auto error = refuse(inode.path, true)) return fail(*error);
  if (random_.chance(faults_.sync_error)) return fail(DiskError{DiskFault::io, inode.path + ": sync failed"});
  inode.synced = inode.bytes.size();
  return done();
}

Result<std::unique_ptr<File>, DiskError> SimulatedDisk::create(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (auto error = refuse(path, true)) return fail(*error);
  auto inode = std::make_shared<Inode>();
  inode->path = path;
  files_[path] = inode;
  return std::unique_ptr<File>(std::make_unique<SimulatedFile>(*this, std::move(inode), life_));
}

Result<std::unique_ptr<File>, DiskError> SimulatedDisk::open(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (auto error = refuse(path, false)) return fail(*error);
  const auto found = files_.find(path);
  if (found == files_.end()) return fail(DiskError{DiskFault::not_found, path + ": there is no such file"});
  return std::unique_ptr<File>(std::make_unique<SimulatedFile>(*this, found->second, life_));
}

Result<Done, DiskError> SimulatedDisk::rename(const std::string& from, const std::string& to) {
  const std::lock_guard lock(mutex_);
  if (auto error = refuse(from, true)) return fail(*error);
  const auto found = files_.find(from);
  if (found == files_.end()) return fail(DiskError{DiskFault::not_found, from + ": there is no such file"});
  auto inode = std::move(found->second);
  files_.erase(found);
  inode->path = to;
  files_[to] = std::move(inode);
  return done();
}

Result<Done, DiskError> SimulatedDisk::remove(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (auto error = refuse(path, true)) return fail(*error);
  if (files_.erase(path) == 0) return fail(DiskError{DiskFault::not_found, path + ": there is no such file"});
  return done();
}

std::optional<std::vector<std::byte>> SimulatedDisk::contents(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(path);
  if (found == files_.end()) return std::nullopt;
  return found->second->bytes;
}

void SimulatedDisk::corrupt(const std::string& path, std::uint64_t offset) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find(path);
  ENSURE(found != files_.end() && offset < found->second->bytes.size(), "there is no such byte to corrupt");
  found->second->bytes[offset] ^= std::byte{1};
}

}  // namespace isochron
