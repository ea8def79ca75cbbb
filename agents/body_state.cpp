// States between stamps and beyond them.

#include <algorithm>
#include <cmath>

#include "agents/state.pb.h"
#include "agents/state_cache.hpp"

namespace isochron::agents {
namespace {

template <std::size_t n>
bool copy(const google::protobuf::RepeatedField<double>& from, std::array<double, n>& to) {
  if (from.size() != static_cast<int>(n)) return false;
  for (std::size_t i = 0; i < n; ++i) {
    to[i] = from[static_cast<int>(i)];
    if (!std::isfinite(to[i])) return false;
  }
  return true;
}

Quat normal(Quat q) {
  const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (length < 1e-12) return {1, 0, 0, 0};
  for (double& x : q) x /= length;
  return q;
}

Quat product(const Quat& a, const Quat& b) {
  return {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3], a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
          a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1], a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
}

/// Along the great circle, the short way.
Quat slerp(const Quat& a, Quat b, double share) {
  double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  if (dot < 0) {
    dot = -dot;
    for (double& x : b) x = -x;
  }
  double wa = 1 - share, wb = share;
  if (dot < 0.9995) {
    const double angle = std::acos(dot), sine = std::sin(angle);
    wa = std::sin((1 - share) * angle) / sine;
    wb = std::sin(share * angle) / sine;
  }
  Quat out;
  for (std::size_t i = 0; i < 4; ++i) out[i] = wa * a[i] + wb * b[i];
  return normal(out);
}

}  // namespace

Any to_any(const google::protobuf::Message& message) {
  Any any;
  any.set_type_url("/" + message.GetDescriptor()->full_name());
  message.SerializeToString(any.mutable_value());
  return any;
}

Any to_any(const BodyState& body) {
  state::Body message;
  message.mutable_position()->Assign(body.position.begin(), body.position.end());
  message.mutable_orientation()->Assign(body.orientation.begin(), body.orientation.end());
  message.mutable_linear()->Assign(body.linear.begin(), body.linear.end());
  message.mutable_angular()->Assign(body.angular.begin(), body.angular.end());
  static const std::string type_url = "/" + state::Body::descriptor()->full_name();
  Any any;
  any.set_type_url(type_url);
  message.SerializeToString(any.mutable_value());
  return any;
}

std::optional<BodyState> body_of(const Any& any) {
  if (!any.Is<state::Body>()) return std::nullopt;
  thread_local state::Body message;
  if (!message.ParseFromString(any.value())) return std::nullopt;
  BodyState body;
  if (!copy(message.position(), body.position) || !copy(message.orientation(), body.orientation) ||
      !copy(message.linear(), body.linear) || !copy(message.angular(), body.angular)) {
    return std::nullopt;
  }
  body.orientation = normal(body.orientation);
  return body;
}

BodyState extrapolate(const BodyState& from, SimSpan by) {
  const double dt = by.seconds();
  BodyState to = from;
  for (std::size_t i = 0; i < 3; ++i) to.position[i] += dt * from.linear[i];
  const Vec3& w = from.angular;
  const double rate = std::sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
  if (rate * std::abs(dt) < 1e-12) return to;
  const double half = 0.5 * rate * dt, scale = std::sin(half) / rate;
  to.orientation = normal(product({std::cos(half), scale * w[0], scale * w[1], scale * w[2]}, from.orientation));
  return to;
}

BodyState interpolate(const BodyState& a, SimTime at_a, const BodyState& b, SimTime at_b, SimTime t) {
  const double span = (at_b - at_a).seconds();
  if (span <= 0) return b;
  const double s = (t - at_a).seconds() / span;
  const double h00 = (1 + 2 * s) * (1 - s) * (1 - s), h10 = s * (1 - s) * (1 - s);
  const double h01 = s * s * (3 - 2 * s), h11 = s * s * (s - 1);
  BodyState out;
  for (std::size_t i = 0; i < 3; ++i) {
    out.position[i] = h00 * a.position[i] + h10 * span * a.linear[i] + h01 * b.position[i] + h11 * span * b.linear[i];
    out.linear[i] = (1 - s) * a.linear[i] + s * b.linear[i];
    out.angular[i] = (1 - s) * a.angular[i] + s * b.angular[i];
  }
  out.orientation = slerp(a.orientation, b.orientation, s);
  return out;
}

}  // namespace isochron::agents
