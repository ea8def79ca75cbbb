#pragma once
// An epoll: files that are watched together. Level-triggered ones are looked at; edge-triggered ones are told once for
// each time that something came.
//
// Threads: owner.

#include <vector>

#include "programs/system/file.hpp"
#include "protocol/system_call.hpp"

namespace isochron::programs {

class PollSet final : public File {
 public:
  using File::File;
  ~PollSet() override;
  short ready(SimTime now) override;
  SimTime changes(SimTime now) override;
  std::string describe() const override { return "an epoll"; }

  CallResult add(int descriptor, const std::shared_ptr<File>& file, std::uint32_t events, std::uint64_t data,
                 SimTime now);
  CallResult change(int descriptor, const File& file, std::uint32_t events, std::uint64_t data, SimTime now);
  CallResult remove(int descriptor, const File& file);
  /// What is there, in the order in which it was added, at most so many.
  std::vector<protocol::PollEvent> take(std::size_t most, SimTime now);
  /// Something came, or will.
  void note(const File& file, SimTime at);
  void forget(const File& file);
  [[nodiscard]] std::string describe_watched() const;

 private:
  struct Interest {
    int descriptor = -1;
    File* file = nullptr;
    std::uint32_t events = 0;
    std::uint64_t data = 0;
    std::vector<SimTime> edges;
    bool off = false;  // told once, as was asked
  };
  Interest* find(int descriptor, const File& file);
  [[nodiscard]] static std::uint32_t found(const Interest& interest, SimTime now);
  std::vector<Interest> interests_;
  std::size_t first_ = 0;  // where the next look begins
};

}  // namespace isochron::programs
