#pragma once
// Packets over Eclipse Cyclone DDS. Every member has a topic, isochron/<federation>/<member>, that it reads and its
// peers write; DDS finds the others, on this machine or on others. Samples are reliable and kept until taken; a writer
// whose reader is slow waits a little, then drops, and the session sends again. Liveliness says when a member is out of
// sight.
//
// Threads: owner thread; Cyclone has its own for receiving.
// Fails:   what DDS does not let us do throws InputError with its reason.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "link/carrier.hpp"
#include "link/dds/dds_options.hpp"

namespace isochron::link {

class DdsCarrier final : public Carrier {
 public:
  DdsCarrier(const std::string& federation, const std::vector<std::string>& names, std::uint32_t self,
             std::vector<std::uint32_t> peers, const DdsOptions& options);
  ~DdsCarrier() override;

  void start(Events events) override;
  void send(std::uint32_t to, std::span<const std::byte> packet) override;
  void run() override;
  void stop() override { stop_.store(true); }

 private:
  struct Entities;
  bool take_all();
  void look_for_lost();

  std::unique_ptr<Entities> dds_;
  std::vector<std::uint32_t> peers_;
  Events events_;
  std::atomic<bool> stop_{false};
};

}  // namespace isochron::link
