// States between stamps and beyond them.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "agents/state.pb.h"
#include "agents/state_cache.hpp"

namespace isochron::agents {
namespace {

template <std::size_t n>
bool copy(const google::protobuf::RepeatedField<double>& from, std::array<double, n>& to) {
  if (from.size() != static_cast<int>(n)) return false;
  std::copy(from.begin(), from.end(), to.begin());
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

/// A Body as protobuf writes it, when all of its fields are there: a tag, a length and so many doubles for each. The
/// general way takes ten times as long, and a thousand agents do it a hundred times a second.
constexpr std::array<std::pair<std::uint8_t, std::size_t>, 4> fields{{{0x0a, 3}, {0x12, 4}, {0x1a, 3}, {0x22, 3}}};
constexpr std::size_t whole_body = 4 * 2 + 13 * sizeof(double);

template <class BodyRef>
std::array<decltype(std::declval<BodyRef>().position.data()), 4> parts_of(BodyRef& body) {
  return {body.position.data(), body.orientation.data(), body.linear.data(), body.angular.data()};
}

bool read_whole(const std::string& bytes, BodyState& body) {
  if (bytes.size() != whole_body) return false;
  const char* from = bytes.data();
  const auto parts = parts_of(body);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto [tag, numbers] = fields[i];
    if (static_cast<std::uint8_t>(from[0]) != tag || static_cast<std::uint8_t>(from[1]) != numbers * sizeof(double)) {
      return false;
    }
    std::memcpy(parts[i], from + 2, numbers * sizeof(double));
    from += 2 + numbers * sizeof(double);
  }
  return true;
}

bool read_any(const std::string& bytes, BodyState& body) {
  thread_local state::Body message;
  return message.ParseFromString(bytes) && copy(message.position(), body.position) &&
         copy(message.orientation(), body.orientation) && copy(message.linear(), body.linear) &&
         copy(message.angular(), body.angular);
}

}  // namespace

const std::string& body_type_url() {
  static const std::string url = "/" + state::Body::descriptor()->full_name();
  return url;
}

void write_body(const BodyState& body, std::string& bytes) {
  static_assert(std::endian::native == std::endian::little, "doubles go out as they lie in memory");
  bytes.resize(whole_body);
  char* to = bytes.data();
  const auto parts = parts_of(body);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto [tag, numbers] = fields[i];
    to[0] = static_cast<char>(tag);
    to[1] = static_cast<char>(numbers * sizeof(double));
    std::memcpy(to + 2, parts[i], numbers * sizeof(double));
    to += 2 + numbers * sizeof(double);
  }
}

Any to_any(const google::protobuf::Message& message) {
  Any any;
  any.set_type_url("/" + message.GetDescriptor()->full_name());
  message.SerializeToString(any.mutable_value());
  return any;
}

Any to_any(const BodyState& body) {
  Any any;
  any.set_type_url(body_type_url());
  write_body(body, *any.mutable_value());
  return any;
}

std::optional<BodyState> body_of(const Any& any) {
  if (any.type_url() != body_type_url() && !any.Is<state::Body>()) return std::nullopt;
  BodyState body;
  if (!read_whole(any.value(), body) && !read_any(any.value(), body)) return std::nullopt;
  for (const auto& [part, numbers] : {std::pair(body.position.data(), 3), std::pair(body.orientation.data(), 4),
                                      std::pair(body.linear.data(), 3), std::pair(body.angular.data(), 3)}) {
    if (!std::all_of(part, part + numbers, [](double x) { return std::isfinite(x); })) return std::nullopt;
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
