#pragma once
// A disk in memory that fails as disks do: it writes short, fills up, cannot be read in places, and loses what was not
// synced when the power goes. After a crash() every open file is dead; restart() brings the disk back with what
// survived, and the code under test recovers from that.
//
//     appended:   |-- synced --|-- not synced --|
//     after crash:|-- synced --|-- a prefix, chosen by the seed, possibly empty
//
// Names are safe here: create, rename and remove survive once they return.
//
// Threads: any (one lock). Fails: as DiskError, never otherwise.

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/disk.hpp"
#include "core/random.hpp"

namespace isochron {

/// What goes wrong, and how often.
struct DiskFaults {
  double short_write = 0;                   // share of appends that take only a part
  double short_read = 0;                    // share of reads that return only a part
  double read_error = 0;                    // share of reads that fail
  double sync_error = 0;                    // share of syncs that fail
  std::optional<std::uint64_t> capacity{};  // bytes in all files together; beyond it the disk is full
  bool read_only = false;
  bool keep_unsynced_prefix = true;  // false: a crash keeps exactly what was synced
};

class SimulatedDisk final : public Disk {
 public:
  explicit SimulatedDisk(std::uint64_t seed);
  ~SimulatedDisk() override;

  void set_faults(const DiskFaults& faults);
  /// The power goes in the middle of the append that reaches this many bytes from now on.
  void crash_after(std::uint64_t bytes);
  void crash();
  /// Power again: what survived can be opened.
  void restart();
  [[nodiscard]] bool crashed() const;

  Result<std::unique_ptr<File>, DiskError> create(const std::string& path) override;
  Result<std::unique_ptr<File>, DiskError> open(const std::string& path) override;
  Result<Done, DiskError> rename(const std::string& from, const std::string& to) override;
  Result<Done, DiskError> remove(const std::string& path) override;

  /// For looking at the outcome: the bytes of a file, without faults; nothing if there is no such file.
  [[nodiscard]] std::optional<std::vector<std::byte>> contents(const std::string& path) const;
  /// Flips one bit: what a bad sector or a cosmic ray does.
  void corrupt(const std::string& path, std::uint64_t offset);

 private:
  friend class SimulatedFile;
  struct Inode {
    std::string path;  // for messages
    std::vector<std::byte> bytes;
    std::size_t synced = 0;
  };
  [[nodiscard]] std::optional<DiskError> refuse(const std::string& path, bool writes) const;
  [[nodiscard]] std::uint64_t used() const;
  Result<std::size_t, DiskError> append(Inode& inode, std::uint64_t life, std::span<const std::byte> bytes);
  Result<std::size_t, DiskError> read(Inode& inode, std::uint64_t life, std::uint64_t offset, std::span<std::byte> to);
  Result<Done, DiskError> sync(Inode& inode, std::uint64_t life);
  void lose_power();

  mutable std::mutex mutex_;
  RandomStream random_;
  DiskFaults faults_;
  std::map<std::string, std::shared_ptr<Inode>> files_;  // shared with open files: an unlinked one lives on
  std::optional<std::uint64_t> power_left_;              // bytes until the crash
  bool crashed_ = false;
  std::uint64_t life_ = 0;  // counts restarts; files of an earlier life are dead
};

}  // namespace isochron
