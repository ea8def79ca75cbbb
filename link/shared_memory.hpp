#pragma once
// A piece of memory that processes share, zeroed at first. Anonymous ones are handed on by their descriptor (inherited,
// or sent over a Unix socket) and vanish with the last process; named ones can be found by anybody of the same user.
//
// Promises: nobody can shrink an anonymous one under our feet (sealed), so touching it never faults.
//           A named one is removed when its creator destroys it; what a killed creator left, remove_stale() removes.
// Threads:  any; the memory's users agree among themselves.

#include <cstddef>
#include <span>
#include <string>

#include "core/result.hpp"
#include "link/fd.hpp"

namespace isochron::link {

class SharedMemory {
 public:
  /// Fails: a sentence.
  static Result<SharedMemory, std::string> anonymous(std::size_t bytes);
  /// The name others open is name(): "isochron.PID.LABEL".
  static Result<SharedMemory, std::string> create(const std::string& label, std::size_t bytes);
  static Result<SharedMemory, std::string> open(const std::string& name);
  /// From a descriptor that was inherited or received.
  static Result<SharedMemory, std::string> adopt(Fd fd);
  /// Removes named ones whose creator is dead; how many.
  static int remove_stale();

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// "" for an anonymous one.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  SharedMemory() = default;
  static Result<SharedMemory, std::string> map(Fd fd, std::string name, int creator);
  void unmap();
  Fd fd_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::string name_;
  int creator_ = 0;  // process that removes the name; a forked child must not
};

/// A part of shared memory that is mapped twice in a row, so that a ring in it has no seam: bytes that run over the end
/// continue at the start by themselves.
class MirroredView {
 public:
  /// offset and bytes are multiples of the page size. Fails: a sentence.
  static Result<MirroredView, std::string> of(const SharedMemory& memory, std::size_t offset, std::size_t bytes);
  MirroredView(MirroredView&& other) noexcept;
  MirroredView& operator=(MirroredView&& other) noexcept;
  ~MirroredView();
  /// 2 × bytes() are readable from here.
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  MirroredView() = default;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace isochron::link
