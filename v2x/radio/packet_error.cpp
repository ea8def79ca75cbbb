#include "v2x/radio/packet_error.hpp"

#include "v2x/radio/repeatable_math.hpp"

namespace isochron::v2x {

PacketError::PacketError(const MediumOptions& options) {
  const double frame_ns = static_cast<double>(airtime(options, 336 - options.overhead_octets).ns());
  for (int i = 0; i < size_; ++i) {
    const auto middle = static_cast<std::uint32_t>(first_ + i) << 17 | 1u << 16;
    const double db = db_of(std::bit_cast<float>(middle));
    const double over = options.per_slope * (db - options.per_middle_db);
    // 1 - error = 1 / (1 + e^-over)
    const double log_success = over < -30 ? over : -quick_log(1 + repeatable_exp(-over));
    table_[static_cast<std::size_t>(i)] = log_success / frame_ns;
  }
}

}  // namespace isochron::v2x
