#pragma once
// Puts poses into the bytes that the page reads as typed arrays.

#include <cstdint>
#include <cstring>
#include <string>

#include "core/time.hpp"
#include "view/poses.hpp"

namespace isochron::view {

template <class T>
void append_bytes(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// u32 bodies, u32 frames, then for each frame: f64 seconds, bodies × 7 f32.
class FrameWriter {
 public:
  void add(SimTime time, const Poses& poses) {
    if (count_ == 0) bodies_ = poses.names.size();
    if (poses.names.size() != bodies_) return;  // the set of bodies is that of the first frame
    append_bytes(bytes_, time.seconds());
    bytes_.append(reinterpret_cast<const char*>(poses.values.data()), poses.values.size() * sizeof(float));
    ++count_;
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::string finish() const {
    std::string out;
    append_bytes(out, static_cast<std::uint32_t>(bodies_));
    append_bytes(out, count_);
    return out + bytes_;
  }

 private:
  std::size_t bodies_ = 0;
  std::uint32_t count_ = 0;
  std::string bytes_;
};

}  // namespace isochron::view
