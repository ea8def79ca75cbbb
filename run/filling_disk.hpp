#pragma once
// A disk that is full from a moment on: the fault `disk: full`. What was written before stays; nothing more is taken.
//
// Threads: fill() any; the rest as the disk that it stands before.

#include <atomic>
#include <memory>
#include <string>

#include "core/disk.hpp"

namespace isochron {

class FillingDisk final : public Disk {
 public:
  explicit FillingDisk(Disk& disk) : disk_(disk) {}
  void fill() { full_.store(true, std::memory_order_relaxed); }

  Result<std::unique_ptr<File>, DiskError> create(const std::string& path) override {
    auto made = disk_.create(path);
    if (!made.ok()) return made;
    return std::unique_ptr<File>(new Filling(std::move(*made), path, full_));
  }
  Result<std::unique_ptr<File>, DiskError> open(const std::string& path) override { return disk_.open(path); }
  Result<Done, DiskError> rename(const std::string& from, const std::string& to) override {
    return disk_.rename(from, to);
  }
  Result<Done, DiskError> remove(const std::string& path) override { return disk_.remove(path); }

 private:
  class Filling final : public File {
   public:
    Filling(std::unique_ptr<File> file, std::string path, const std::atomic<bool>& full)
        : file_(std::move(file)), path_(std::move(path)), full_(full) {}
    Result<std::size_t, DiskError> append(std::span<const std::byte> bytes) override {
      if (!full_.load(std::memory_order_relaxed)) return file_->append(bytes);
      return fail(DiskError{DiskFault::full, path_ + ": no space left on the disk, by a fault of the scenario"});
    }
    Result<std::size_t, DiskError> read_at(std::uint64_t offset, std::span<std::byte> into) override {
      return file_->read_at(offset, into);
    }
    Result<std::uint64_t, DiskError> size() override { return file_->size(); }
    Result<Done, DiskError> sync() override { return file_->sync(); }

   private:
    std::unique_ptr<File> file_;
    std::string path_;
    const std::atomic<bool>& full_;
  };

  Disk& disk_;
  std::atomic<bool> full_{false};
};

}  // namespace isochron
