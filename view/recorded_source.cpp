#include "view/recorded_source.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/foreign_text.hpp"
#include "journal/decode.hpp"
#include "journal/digest.hpp"
#include "journal/journal_metadata.hpp"
#include "journal/named_series.hpp"
#include "view/decimate.hpp"
#include "view/frame_writer.hpp"
#include "view/poses.hpp"
#include "view/program_events.hpp"

namespace isochron::view {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t frames_max = 4000;   // of one answer
constexpr std::size_t events_max = 20000;  // of one answer
constexpr std::size_t fields_max = 400;    // shown of one message

/// JSON that never throws for what a file may have in it.
Json attached_json(McapReader& reader, std::string_view name) {
  for (const mcap::AttachmentIndex& index : reader.attachments()) {
    if (index.name != name) continue;
    const auto data = reader.attachment(index);
    if (!data.ok()) return nullptr;
    const auto* text = reinterpret_cast<const char*>(data->data());
    Json parsed = Json::parse(text, text + data->size(), nullptr, false);
    return parsed.is_discarded() ? Json(nullptr) : parsed;
  }
  return nullptr;
}

std::string attached_text(McapReader& reader, std::string_view name) {
  for (const mcap::AttachmentIndex& index : reader.attachments()) {
    if (index.name != name) continue;
    const auto data = reader.attachment(index);
    if (data.ok()) return {reinterpret_cast<const char*>(data->data()), data->size()};
  }
  return "";
}

Json channels_of(const McapReader& reader) {
  Json channels = Json::array();
  for (const mcap::Channel& channel : reader.channels()) {
    const mcap::Schema* schema = reader.schema_of(channel);
    const auto& counts = reader.statistics().channel_message_counts;
    const auto count = std::ranges::find_if(counts, [&](const auto& c) { return c.first == channel.id; });
    const auto who = channel.metadata.find(journal_metadata::participant);
    channels.push_back({{"topic", channel.topic},
                        {"type", schema != nullptr ? schema->name : ""},
                        {"count", count != counts.end() ? count->second : 0},
                        {"participant", who != channel.metadata.end() ? who->second : ""}});
  }
  return channels;
}

Json participants_of(const McapReader& reader) {
  std::vector<std::pair<unsigned long, std::string>> numbered;
  for (const auto& [number, name] : reader.metadata("participants"))
    numbered.emplace_back(std::strtoul(number.c_str(), nullptr, 10), name);
  std::ranges::sort(numbered);
  Json names = Json::array();
  for (const auto& [number, name] : numbered) names.push_back(name);
  if (!names.empty()) return names;
  if (reader.channel("/world/state") != nullptr) names.push_back("world");
  for (const mcap::Channel& channel : reader.channels()) {
    if (channel.topic.starts_with(programs_prefix)) names.push_back(channel.topic.substr(programs_prefix.size()));
  }
  return names;
}

/// Flows with a position, in the order of their topics, when there are no transforms.
struct Follower {
  std::vector<std::string> topics;
  std::vector<PositionReader> readers;

  explicit Follower(const McapReader& reader) {
    for (const mcap::Channel& channel : reader.channels()) {
      auto found = PositionReader::make(channel, reader.schema_of(channel));
      if (!found) continue;
      topics.push_back(channel.topic);
      readers.push_back(std::move(*found));
    }
  }
  [[nodiscard]] Poses start() const {
    Poses poses{topics, std::vector<float>(topics.size() * Poses::floats_per_body, 0)};
    for (std::size_t i = 0; i < topics.size(); ++i) poses.values[i * Poses::floats_per_body + 6] = 1;
    return poses;
  }
  void take(const MessageView& message, Poses& poses) const {
    const auto at = std::ranges::find(topics, message.channel->topic) - topics.begin();
    readers[static_cast<std::size_t>(at)].read(message.data,
                                               &poses.values[static_cast<std::size_t>(at) * Poses::floats_per_body]);
  }
};

std::vector<std::string> bodies_of(McapReader& reader) {
  if (reader.channel(transforms_topic) == nullptr) return Follower(reader).topics;
  auto cursor = reader.messages({.topics = {transforms_topic}});
  Poses poses;
  if (const auto first = cursor.next()) read_transforms(first->data, poses);
  return poses.names;
}

Answer transform_frames(McapReader& reader, Window window, SimSpan step) {
  FrameWriter writer;
  Poses poses;
  SimTime due = window.from;
  auto cursor = reader.messages({.topics = {transforms_topic}, .from = window.from, .to = window.to});
  while (const auto message = cursor.next()) {
    if (message->time < due || !read_transforms(message->data, poses)) continue;
    writer.add(message->time, poses);
    if (writer.count() >= frames_max) break;
    due = message->time + step;
  }
  return writer.finish();
}

Answer followed_frames(McapReader& reader, Window window, SimSpan step) {
  const Follower follower(reader);
  FrameWriter writer;
  Poses poses = follower.start();
  if (follower.topics.empty()) return writer.finish();
  SimTime due = window.from;
  SimTime last = SimTime::zero();
  auto cursor = reader.messages({.topics = follower.topics, .from = window.from, .to = window.to});
  while (const auto message = cursor.next()) {
    if (message->time > last && last >= due) {  // everything of that instant is known
      writer.add(last, poses);
      due = last + step;
      if (writer.count() >= frames_max) return writer.finish();
    }
    follower.take(*message, poses);
    last = message->time;
  }
  if (last >= due) writer.add(last, poses);
  return writer.finish();
}

SimTime end_of(const McapReader& reader) {
  return SimTime::from_ns(static_cast<std::int64_t>(reader.statistics().end_time));
}

std::string no_topic(const std::string& topic) { return "the journal has no topic `" + topic + "`"; }

}  // namespace

Result<std::unique_ptr<RecordedSource>, std::string> RecordedSource::open(Disk& disk, const std::string& file) {
  std::unique_ptr<RecordedSource> source(new RecordedSource(disk, file));
  auto first = source->borrow();
  if (!first.ok()) return fail(first.error());
  source->give_back(std::move(first).value());
  return source;
}

Result<std::unique_ptr<McapReader>, std::string> RecordedSource::borrow() {
  {
    const std::lock_guard hold(lock_);
    if (!free_.empty()) {
      auto reader = std::move(free_.back());
      free_.pop_back();
      return reader;
    }
  }
  auto opened = McapReader::open(disk_, file_);
  if (!opened.ok()) return fail(opened.error().what);
  return std::make_unique<McapReader>(std::move(opened).value());
}

void RecordedSource::give_back(std::unique_ptr<McapReader> reader) {
  const std::lock_guard hold(lock_);
  free_.push_back(std::move(reader));
}

template <class Ask>
Answer RecordedSource::ask(Ask&& question) {
  auto reader = borrow();
  if (!reader.ok()) return fail(reader.error());
  Answer answer = question(**reader);
  give_back(std::move(reader).value());
  return answer;
}

Answer RecordedSource::about() {
  return ask([](McapReader& reader) -> Answer {
    const mcap::TextMap notes = reader.metadata(journal_metadata::record);
    const auto note = [&](const char* key) {
      const auto found = notes.find(key);
      return found != notes.end() ? found->second : std::string();
    };
    Json about{{"live", false},
               {"file", reader.name()},
               {"scenario", note("scenario")},
               {"mode", note("mode")},
               {"seed", note("seed")},
               {"digest", recorded_digest(reader).hex},
               {"whole", reader.ending() == Ending::whole},
               {"end_s", end_of(reader).seconds()},
               {"records", reader.statistics().message_count},
               {"bytes", reader.file_size()},
               {"bodies", bodies_of(reader)},
               {"participants", participants_of(reader)},
               {"channels", channels_of(reader)},
               {"report", attached_json(reader, "report.json")},
               {"scenario_text", attached_text(reader, "scenario.yaml")}};
    return json_text(about);
  });
}

Answer RecordedSource::frames(Window window, SimSpan step) {
  return ask([&](McapReader& reader) -> Answer {
    return reader.channel(transforms_topic) != nullptr ? transform_frames(reader, window, step)
                                                       : followed_frames(reader, window, step);
  });
}

namespace {

std::string line_text(Decimator& line) {
  const PlotLine plot = line.finish();
  return json_text(Json{{"t", plot.times}, {"v", plot.values}});
}

/// Of a number by its name in the journal.
Answer named_series(McapReader& reader, const std::string& name, Window window, std::size_t points) {
  const auto series = read_named(reader, names_of(reader), name, window.from, window.to);
  if (!series) return fail(series.error());
  const SimTime to = std::min(window.to, end_of(reader) + SimSpan::from_ns(1));
  Decimator line(window.from.seconds(), to.seconds(), points);
  for (std::size_t i = 0; i < series->times.size(); ++i) line.add(series->times[i].seconds(), series->values[i]);
  return line_text(line);
}

}  // namespace

Answer RecordedSource::series(const std::string& topic, const std::string& field, Window window, std::size_t points) {
  return ask([&](McapReader& reader) -> Answer {
    if (topic.empty()) return named_series(reader, field, window, points);
    const mcap::Channel* channel = reader.channel(topic);
    if (channel == nullptr) return fail(no_topic(topic));
    const auto decoder = Decoder::make(*channel, reader.schema_of(*channel));
    if (!decoder.ok()) return fail(decoder.error());
    const SimTime to = std::min(window.to, end_of(reader) + SimSpan::from_ns(1));
    Decimator line(window.from.seconds(), to.seconds(), points);
    auto cursor = reader.messages({.topics = {topic}, .from = window.from, .to = window.to});
    bool any = false, named = false;
    while (const auto message = cursor.next()) {
      any = true;
      if (const auto value = decoder->number(message->data, field)) {
        named = true;
        line.add(message->time.seconds(), *value);
      }
    }
    if (any && !named) return fail("`" + topic + "` has no number `" + field + "`");
    return line_text(line);
  });
}

Answer RecordedSource::latest(const std::string& topic, SimTime at) {
  return ask([&](McapReader& reader) -> Answer {
    if (reader.channel(topic) == nullptr) return fail(no_topic(topic));
    std::string found;
    for (const SimSpan back : {SimSpan(std::chrono::milliseconds(200)), SimSpan(std::chrono::seconds(5)), SimSpan()}) {
      const bool all = back == SimSpan();
      const SimTime from = all || at.since_zero() < back ? SimTime::zero() : at - back;
      auto cursor = reader.messages({.topics = {topic}, .from = from, .to = at + SimSpan::from_ns(1)});
      while (const auto message = cursor.next()) {
        found.clear();
        append_bytes(found, message->time.seconds());
        found.append(reinterpret_cast<const char*>(message->data.data()), message->data.size());
      }
      if (!found.empty()) break;
    }
    return found;
  });
}

Answer RecordedSource::schema(const std::string& topic) {
  return ask([&](McapReader& reader) -> Answer {
    const mcap::Channel* channel = reader.channel(topic);
    const mcap::Schema* schema = channel != nullptr ? reader.schema_of(*channel) : nullptr;
    if (schema == nullptr) return fail(no_topic(topic));
    return json_text(Json{{"name", schema->name}, {"encoding", schema->encoding}, {"text", schema->text}});
  });
}

Answer RecordedSource::fields(const std::string& topic) {
  return ask([&](McapReader& reader) -> Answer {
    if (topic.empty()) return json_text(Json(names_of(reader).numbers()));
    const mcap::Channel* channel = reader.channel(topic);
    if (channel == nullptr) return fail(no_topic(topic));
    const auto decoder = Decoder::make(*channel, reader.schema_of(*channel));
    Json names = Json::array();
    auto cursor = reader.messages({.topics = {topic}});
    const auto first = cursor.next();
    if (decoder.ok() && first) {
      decoder->each(first->data, [&](const std::string& path, const Scalar& value) {
        if (names.size() < fields_max && to_number(value)) names.push_back(path);
      });
    }
    return json_text(names);
  });
}

Answer RecordedSource::events(Window window) {
  return ask([&](McapReader& reader) -> Answer {
    Query query{.topics = {}, .from = window.from, .to = window.to};
    for (const mcap::Channel& channel : reader.channels()) {
      if (tells_of_programs(channel.topic)) query.topics.push_back(channel.topic);
    }
    Json events = Json::array();
    if (query.topics.empty()) return json_text(events);
    auto cursor = reader.messages(query);
    while (const auto message = cursor.next()) {
      if (events.size() >= events_max) break;
      if (auto event = program_event(message->channel->topic, message->data)) events.push_back(std::move(*event));
    }
    return json_text(events);
  });
}

}  // namespace isochron::view
