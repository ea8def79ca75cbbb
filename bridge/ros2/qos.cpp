#include "bridge/ros2/qos.hpp"

#include "core/time_text.hpp"

namespace isochron::ros2 {
namespace {

const char* reliability(const Qos& qos) { return qos.reliable ? "reliable" : "best effort"; }
const char* durability(const Qos& qos) { return qos.transient_local ? "transient local" : "volatile"; }

}  // namespace

std::string to_string(const Qos& qos) {
  std::string text = std::string(reliability(qos)) + ", " + durability(qos);
  text += qos.depth == 0 ? ", all kept" : ", depth " + std::to_string(qos.depth);
  if (qos.deadline > WallSpan::zero()) text += ", deadline " + format_ns(qos.deadline.ns());
  return text;
}

std::string mismatch(const Qos& offered, const Qos& requested) {
  if (requested.reliable && !offered.reliable) return "the subscriber asks for reliable, the publisher is best effort";
  if (requested.transient_local && !offered.transient_local) {
    return "the subscriber asks for transient local, the publisher is volatile";
  }
  const bool asks = requested.deadline > WallSpan::zero();
  if (asks && (offered.deadline == WallSpan::zero() || offered.deadline > requested.deadline)) {
    return "the subscriber asks for a deadline of " + format_ns(requested.deadline.ns()) + ", the publisher has " +
           (offered.deadline == WallSpan::zero() ? "none" : format_ns(offered.deadline.ns()));
  }
  return "";
}

}  // namespace isochron::ros2
