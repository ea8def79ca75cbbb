#pragma once
// Asks the kernel to keep the processors out of deep sleep states for as long as this object lives: leaving one can
// take 100 µs and more, at each wake-up of a 1 kHz loop.
//
//     CpuLatencyRequest awake(0us);
//
// Threads: any. Cost: a file held open; the processors use more power.
// Fails:   without the privilege (or the device) it holds nothing and why_not() says so; the loop runs with worse
// wake-ups.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace isochron::rt {

class CpuLatencyRequest {
 public:
  explicit CpuLatencyRequest(std::chrono::microseconds most, const char* device = "/dev/cpu_dma_latency")
      : file_(open(device, O_WRONLY | O_CLOEXEC)) {
    const auto value = static_cast<std::int32_t>(most.count());
    if (file_ < 0 || write(file_, &value, sizeof value) != sizeof value) {
      why_not_ = std::string(device) + ": " + std::strerror(errno);
      release();
    }
  }
  ~CpuLatencyRequest() { release(); }
  CpuLatencyRequest(CpuLatencyRequest&& other) noexcept
      : file_(std::exchange(other.file_, -1)), why_not_(std::move(other.why_not_)) {}
  CpuLatencyRequest& operator=(CpuLatencyRequest&&) = delete;

  [[nodiscard]] bool held() const { return file_ >= 0; }
  /// Empty when held.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }

 private:
  void release() {
    if (file_ >= 0) close(file_);
    file_ = -1;
  }
  int file_;
  std::string why_not_;
};

}  // namespace isochron::rt
