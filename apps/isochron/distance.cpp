#include "apps/isochron/distance.hpp"

#include <array>
#include <cmath>
#include <map>

#include "journal/decode.hpp"

namespace isochron::app {
namespace {

constexpr std::size_t numbers_per_body = 13;  // world::WorldState::bodies

/// Which body stands where in /world/state: /tf names them in the same order, but for the first, the world itself.
std::map<std::string, std::size_t> body_order(McapReader& reader) {
  std::map<std::string, std::size_t> order;
  const mcap::Channel* channel = reader.channel("/tf");
  if (channel == nullptr) return order;
  const auto decoder = Decoder::make(*channel, reader.schema_of(*channel));
  MessageCursor cursor = reader.messages({{"/tf"}});
  const auto first = cursor.next();
  if (!decoder || !first) return order;
  decoder->each(first->data, [&](const std::string& path, const Scalar& value) {
    if (path.ends_with("child_frame_id")) order.emplace(std::get<std::string>(value), order.size() + 1);
  });
  return order;
}

std::array<std::string, 3> position_fields(std::size_t body) {
  std::array<std::string, 3> fields;
  for (std::size_t i = 0; i < 3; ++i) fields[i] = "bodies[" + std::to_string(numbers_per_body * body + i) + "]";
  return fields;
}

/// Nothing if one of the fields is not in the record.
std::optional<double> distance_in(const Decoder& decoder, const MessageView& message,
                                  const std::array<std::string, 3>& a, const std::array<std::string, 3>& b) {
  std::array<std::optional<double>, 6> found;
  decoder.each(message.data, [&](const std::string& path, const Scalar& value) {
    for (std::size_t i = 0; i < 3; ++i) {
      if (path == a[i]) found[i] = to_number(value);
      if (path == b[i]) found[3 + i] = to_number(value);
    }
  });
  double squares = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    if (!found[i] || !found[3 + i]) return std::nullopt;
    squares += (*found[i] - *found[3 + i]) * (*found[i] - *found[3 + i]);
  }
  return std::sqrt(squares);
}

}  // namespace

Result<std::vector<double>, std::string> body_distances(Disk& disk, const std::string& journal, const std::string& a,
                                                        const std::string& b) {
  auto reader = McapReader::open(disk, journal);
  if (!reader.ok()) return fail(reader.error().what);
  const auto order = body_order(*reader);
  for (const std::string& name : {a, b}) {
    if (!order.contains(name)) return fail(journal + " has no body " + name + " in /tf");
  }
  const mcap::Channel* channel = reader->channel("/world/state");
  if (channel == nullptr) return fail(journal + " has no topic /world/state");
  const auto decoder = Decoder::make(*channel, reader->schema_of(*channel));
  if (!decoder) return fail(decoder.error());
  const auto fields_a = position_fields(order.at(a)), fields_b = position_fields(order.at(b));
  std::vector<double> distances;
  MessageCursor cursor = reader->messages({{"/world/state"}});
  while (const auto message = cursor.next()) {
    if (const auto d = distance_in(*decoder, *message, fields_a, fields_b)) distances.push_back(*d);
  }
  return distances;
}

}  // namespace isochron::app
