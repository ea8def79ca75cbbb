#pragma once
// All kinds of messages with their descriptions, and a list of them: number and name, in the order of Frame::message.

#include <array>
#include <string_view>

#include "v2x/codec/codec.hpp"
#include "v2x/codec/describe_alerts.hpp"
#include "v2x/codec/describe_bsm.hpp"
#include "v2x/codec/describe_map.hpp"
#include "v2x/codec/describe_priority.hpp"
#include "v2x/codec/describe_psm.hpp"
#include "v2x/codec/describe_spat.hpp"
#include "v2x/codec/describe_tim.hpp"

namespace isochron::v2x {

struct Kind {
  int id;
  const char* name;
};
inline constexpr std::array kinds{Kind{id_bsm, "BSM"}, Kind{id_map, "MAP"},  Kind{id_spat, "SPAT"}, Kind{id_psm, "PSM"},
                                  Kind{id_tim, "TIM"}, Kind{id_srm, "SRM"},  Kind{id_ssm, "SSM"},   Kind{id_rsa, "RSA"},
                                  Kind{id_eva, "EVA"}, Kind{id_rtcm, "RTCM"}};
static_assert(kinds.size() + 1 == std::variant_size_v<decltype(Frame::message)>);

/// Makes the message of the k-th kind and calls use(message).
template <std::size_t k = 0, class Use>
bool with_kind(std::size_t kind, Frame& frame, Use&& use) {
  if constexpr (k < kinds.size()) {
    return kind == k ? use(frame.message.template emplace<k>()) : with_kind<k + 1>(kind, frame, use);
  } else {
    return false;
  }
}

}  // namespace isochron::v2x
