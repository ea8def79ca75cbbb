#include "journal/named_series.hpp"

namespace isochron {
namespace {

constexpr const char* world_topic = "/world/state";

/// Journals from before channels said what their elements are called: /tf names the bodies in the same order, but for
/// the first, the world itself.
mcap::TextMap bodies_from_transforms(McapReader& reader) {
  mcap::TextMap metadata;
  const mcap::Channel* channel = reader.channel("/tf");
  if (channel == nullptr) return metadata;
  const auto decoder = Decoder::make(*channel, reader.schema_of(*channel));
  MessageCursor cursor = reader.messages({{"/tf"}});
  const auto first = cursor.next();
  if (!decoder || !first) return metadata;
  std::vector<std::string> bodies{"world"};
  decoder->each(first->data, [&](const std::string& path, const Scalar& value) {
    if (path.ends_with("child_frame_id")) bodies.push_back(std::get<std::string>(value));
  });
  name_elements(metadata, "bodies", bodies, body_parts());
  return metadata;
}

}  // namespace

Names names_of(McapReader& reader) {
  Names names;
  for (const mcap::Channel& channel : reader.channels()) {
    mcap::Channel described = channel;
    const bool unnamed = !channel.metadata.contains(std::string(names_metadata::names_of) + "bodies");
    if (channel.topic == world_topic && unnamed) described.metadata.merge(bodies_from_transforms(reader));
    names.add(channel.id, described, reader.schema_of(channel));
  }
  // What stands in records comes after what channels say, as it does while a run goes on.
  for (const mcap::Channel& channel : reader.channels()) {
    if (!names.names_are_in_records(channel.id)) continue;
    MessageCursor cursor = reader.messages({{channel.topic}});
    if (const auto first = cursor.next()) names.learn(channel.id, first->data);
  }
  return names;
}

Result<NamedNumber, std::string> find_number(const McapReader& reader, const Names& names, const std::string& name) {
  const auto number = names.find(name);
  if (!number) {
    const std::string hint = names.hint(name);
    return fail(reader.name() + " has no number called " + name + (hint.empty() ? "" : "; " + hint));
  }
  if (number->quantity == Quantity::text) return fail(name + " is text, not a number");
  return *number;
}

Result<Series, std::string> read_named(McapReader& reader, const Names& names, const std::string& name, SimTime from,
                                       SimTime to) {
  const auto number = find_number(reader, names, name);
  if (!number) return fail(number.error());
  NumberReader read = names.reader(*number);
  Series series;
  std::uint64_t seen = 0;
  MessageCursor cursor = reader.messages({{number->topic}, from, to});
  while (const auto message = cursor.next()) {
    ++seen;
    const auto value = read.number(message->data);
    if (!value) continue;
    series.times.push_back(message->time);
    series.values.push_back(*value);
  }
  if (seen > 0 && series.times.empty()) return fail("no record of " + number->topic + " has " + name);
  return series;
}

}  // namespace isochron
