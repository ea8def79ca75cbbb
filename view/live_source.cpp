#include "view/live_source.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/contained.hpp"
#include "core/foreign_text.hpp"
#include "journal/decode.hpp"
#include "journal/journal_metadata.hpp"
#include "view/frame_writer.hpp"
#include "view/live_page.hpp"
#include "view/poses.hpp"
#include "view/program_events.hpp"
#include "view/wish.hpp"

namespace isochron::view {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::ordered_json;

constexpr auto tick_period = 16ms;
constexpr int ticks_per_status = 6;
constexpr std::uint64_t frame_key = 1, status_key = 2;
constexpr std::size_t events_kept = 20000;  // of the latest that programs did

mcap::Channel channel_as_read(const ChannelDefinition& definition) {
  return {0, 1, definition.topic, definition.options.message_encoding, definition.options.metadata};
}
mcap::Schema schema_as_read(const ChannelDefinition& definition) {
  return {1, definition.schema.name, definition.schema.encoding, definition.schema.text};
}

/// Whose record a channel is; "" for what belongs to nobody.
std::string participant_of(const ChannelDefinition& channel) {
  const auto named = channel.options.metadata.find(journal_metadata::participant);
  if (named != channel.options.metadata.end()) return named->second;
  if (channel.topic == "/world/state") return "world";
  return channel.topic.starts_with(programs_prefix) ? channel.topic.substr(programs_prefix.size()) : "";
}

}  // namespace

std::optional<Decoder> decoder_of(const ChannelDefinition& definition) {
  const mcap::Channel channel = channel_as_read(definition);
  const mcap::Schema schema = schema_as_read(definition);
  auto made = Decoder::make(channel, &schema);
  if (!made.ok()) return std::nullopt;
  return std::move(made).value();
}

/// Everybody who looks, and what the tick remembers between two looks.
struct LiveSource::Pages {
  struct Heard {
    LiveListener* listener;
    std::size_t channels_told = 0;
  };
  std::mutex lock;
  std::vector<LivePage*> pages;
  std::vector<Heard> listeners;
  std::deque<Json> events;  // of programs, the newest is the last

  // The tick's own.
  std::size_t channels_seen = 0;
  std::map<std::string, std::vector<std::size_t>> participants;
  std::map<std::size_t, std::string> told_by;  // topics of channels that tell what programs did
  std::optional<std::size_t> transforms;
  std::vector<std::pair<std::size_t, PositionReader>> positions;
  Poses poses;
  SimTime shown = SimTime::never();
  int ticks = 0;
};

LiveSource::LiveSource(const Scenario& scenario, RunWatch& watch)
    : scenario_name_(scenario.name),
      mode_(Words<Mode>::list[static_cast<std::size_t>(scenario.time.mode)]),
      seed_(std::to_string(scenario.seed)),
      text_(scenario.text),
      duration_(scenario.duration),
      watch_(watch),
      pages_(std::make_unique<Pages>()) {
  for (const auto& [robot, section] : scenario.robots) {
    robots_.push_back(robot);
    for (const auto& [name, program] : section.programs) programs_.push_back(robot + "/" + name);
    for (const auto& [name, sensor] : section.sensors) sensors_.push_back(robot + "/" + name);
  }
  thread_ = std::thread([this] { tick_until_stopped(); });
}

LiveSource::~LiveSource() {
  stop_.store(true);
  thread_.join();
}

void LiveSource::tick_until_stopped() {
  while (!stop_.load()) {
    std::this_thread::sleep_for(tick_period);
    contained("showing a run", [this] { tick(); });
  }
}

void LiveSource::notice_channels() {
  Pages& all = *pages_;
  const auto added = tap_.channels(all.channels_seen);
  for (std::size_t i = 0; i < added.size(); ++i) {
    const std::size_t number = all.channels_seen + i;
    if (const std::string who = participant_of(added[i]); !who.empty()) all.participants[who].push_back(number);
    if (added[i].topic == transforms_topic) all.transforms = number;
    if (tells_of_programs(added[i].topic)) {
      all.told_by[number] = added[i].topic;
      tap_.follow(number);
    }
    const mcap::Channel channel = channel_as_read(added[i]);
    const mcap::Schema schema = schema_as_read(added[i]);
    if (auto reader = PositionReader::make(channel, &schema)) {
      tap_.keep(number);
      all.positions.emplace_back(number, std::move(*reader));
    }
  }
  all.channels_seen += added.size();
}

/// True: something moved.
bool LiveSource::look_at_bodies() {
  Pages& all = *pages_;
  if (all.transforms) {
    const SimTime newest = tap_.newest(*all.transforms);
    if (newest == all.shown || newest == SimTime::never()) return false;
    const LiveRecord record = tap_.kept(*all.transforms);
    all.shown = record.time;
    return read_transforms(std::as_bytes(std::span(record.payload)), all.poses);
  }
  SimTime newest = SimTime::zero();
  all.poses.names.clear();
  all.poses.values.assign(all.positions.size() * Poses::floats_per_body, 0);
  for (std::size_t i = 0; i < all.positions.size(); ++i) {
    const LiveRecord record = tap_.kept(all.positions[i].first);
    float* place = &all.poses.values[i * Poses::floats_per_body];
    place[6] = 1;
    all.poses.names.push_back(std::to_string(i));
    if (record.payload.empty()) continue;
    all.positions[i].second.read(std::as_bytes(std::span(record.payload)), place);
    newest = std::max(newest, record.time);
  }
  const bool moved = newest != all.shown && !all.positions.empty();
  all.shown = newest;
  return moved;
}

std::string LiveSource::status() const {
  Json participants = Json::array();
  for (const auto& [name, channels] : pages_->participants) {
    SimTime newest = SimTime::zero();
    for (const std::size_t channel : channels) {
      if (const SimTime at = tap_.newest(channel); at != SimTime::never()) newest = std::max(newest, at);
    }
    participants.push_back({{"name", name}, {"progress_s", newest.seconds()}});
  }
  const RunControl& control = watch_.control();
  Json deadlines;  // of a run on the wall clock
  if (const auto kept = watch_.deadlines()) {
    deadlines = {
        {"missed", kept->missed}, {"late_p99_s", kept->late_p99.seconds()}, {"late_max_s", kept->late_max.seconds()}};
  }
  return json_text(Json{{"type", "status"},
                        {"t", watch_.time().seconds()},
                        {"drift_s", watch_.drift().seconds()},
                        {"paused", control.paused()},
                        {"speed", control.speed()},
                        {"channels", pages_->channels_seen},
                        {"participants", participants},
                        {"deadlines", deadlines},
                        {"stall", control.stall()},
                        {"waits", control.waits()}});
}

void LiveSource::remember_events(const std::deque<LiveRecord>& records) {
  Pages& all = *pages_;
  for (const LiveRecord& record : records) {
    const auto topic = all.told_by.find(record.channel);
    if (topic == all.told_by.end()) continue;
    if (auto event = program_event(topic->second, std::as_bytes(std::span(record.payload))))
      all.events.push_back(std::move(*event));
  }
  while (all.events.size() > events_kept) all.events.pop_front();
}

void LiveSource::tick() {
  Pages& all = *pages_;
  notice_channels();
  const std::deque<LiveRecord> records = tap_.take();
  const std::lock_guard guard(all.lock);
  remember_events(records);
  for (Pages::Heard& heard : all.listeners) {
    if (heard.channels_told < all.channels_seen) {
      auto added = tap_.channels(heard.channels_told);
      heard.listener->channels(heard.channels_told, added);
      heard.channels_told += added.size();
    }
    for (const LiveRecord& record : records) heard.listener->record(record);
    heard.listener->now(watch_.time());
  }
  if (all.pages.empty()) return;
  for (LivePage* page : all.pages) page->records(records);
  if (look_at_bodies()) {
    FrameWriter frame;
    frame.add(all.shown, all.poses);
    const std::string bytes = frame.finish();
    for (LivePage* page : all.pages) page->peer().send_binary(bytes, frame_key);
  }
  if (++all.ticks % ticks_per_status != 0) return;
  const std::string text = status();
  for (LivePage* page : all.pages) page->peer().send_text(text, status_key);
}

void LiveSource::ended(const RunReport& report) {
  ended_.store(true);
  tick();
  const char* words[] = {"finished", "interrupted", "failed"};
  const std::string text =
      json_text(Json{{"type", "ended"}, {"end", words[static_cast<int>(report.end)]}, {"why", report.why}});
  const std::lock_guard guard(pages_->lock);
  for (LivePage* page : pages_->pages) page->peer().send_text(text);
}

std::unique_ptr<Session> LiveSource::open(std::shared_ptr<Peer> peer) {
  return std::make_unique<LivePage>(*this, std::move(peer));
}

void LiveSource::join(LivePage& page) {
  const std::lock_guard guard(pages_->lock);
  pages_->pages.push_back(&page);
}
void LiveSource::leave(LivePage& page) {
  const std::lock_guard guard(pages_->lock);
  std::erase(pages_->pages, &page);
}
void LiveSource::join(LiveListener& listener) {
  const std::lock_guard guard(pages_->lock);
  pages_->listeners.push_back({&listener});
}
void LiveSource::leave(LiveListener& listener) {
  const std::lock_guard guard(pages_->lock);
  std::erase_if(pages_->listeners, [&](const Pages::Heard& heard) { return heard.listener == &listener; });
}

std::optional<std::size_t> LiveSource::channel_of(const std::string& topic) const {
  const auto channels = tap_.channels();
  const auto found = std::ranges::find(channels, topic, &ChannelDefinition::topic);
  if (found == channels.end()) return std::nullopt;
  return static_cast<std::size_t>(found - channels.begin());
}

// ---- questions ----

Answer LiveSource::about() {
  Json channels = Json::array();
  Json participants = Json::array();
  std::vector<std::string> bodies;
  std::size_t number = 0;
  for (const ChannelDefinition& channel : tap_.channels()) {
    const std::string who = participant_of(channel);
    channels.push_back({{"topic", channel.topic}, {"type", channel.schema.name}, {"count", 0}, {"participant", who}});
    if (!who.empty() && std::ranges::find(participants, Json(who)) == participants.end()) participants.push_back(who);
    if (channel.topic == transforms_topic) {
      Poses poses;
      const LiveRecord kept = tap_.kept(number);
      read_transforms(std::as_bytes(std::span(kept.payload)), poses);
      bodies = poses.names;
    }
    ++number;
  }
  if (!channel_of(transforms_topic)) {
    for (const ChannelDefinition& definition : tap_.channels()) {
      const mcap::Channel channel = channel_as_read(definition);
      const mcap::Schema schema = schema_as_read(definition);
      if (PositionReader::make(channel, &schema)) bodies.push_back(definition.topic);
    }
  }
  return json_text(
      Json{{"live", true},
           {"file", ""},
           {"scenario", scenario_name_},
           {"mode", mode_},
           {"seed", seed_},
           {"end_s", duration_.seconds()},
           {"bodies", bodies},
           {"participants", participants},
           {"channels", channels},
           {"report", nullptr},
           {"can_break",
            {{"delay", programs_}, {"stop", programs_}, {"blind", sensors_}, {"freeze", sensors_}, {"cut", robots_}}},
           {"scenario_text", text_}});
}

Answer LiveSource::frames(Window, SimSpan) { return FrameWriter().finish(); }
/// What was is not kept; what comes is sent to the page that plots it.
Answer LiveSource::series(const std::string& topic, const std::string& field, Window, std::size_t) {
  if (topic.empty()) {
    const Names known = names();
    const auto number = known.find(field);
    const std::string hint = number ? "" : known.hint(field);
    if (!number) return fail("there is no number called " + field + (hint.empty() ? "" : "; " + hint));
    if (number->quantity == Quantity::text) return fail(field + " is text, not a number");
  }
  return std::string(R"({"t":[],"v":[]})");
}

Answer LiveSource::events(Window window) {
  Json events = Json::array();
  const std::lock_guard guard(pages_->lock);
  for (const Json& event : pages_->events) {
    const double at_s = event[1].get<double>();
    if (at_s >= window.from.seconds() && at_s < window.to.seconds()) events.push_back(event);
  }
  return json_text(events);
}

/// {"t": 1.25, "ended": false}
Answer LiveSource::await_steps() {
  if (awaiting_.exchange(true)) return fail("somebody else waits for steps already");
  const auto reached = [this](SimTime at) {
    for (std::size_t i = 0; i < tap_.channel_count(); ++i) {
      if (const SimTime newest = tap_.newest(i); newest != SimTime::never() && newest >= at) return true;
    }
    return false;
  };
  while (!watch_.control().standing() && !ended_.load() && !watch_.stopping()) std::this_thread::sleep_for(50us);
  const SimTime now = watch_.time();
  for (int tries = 0; tries < 10000 && !ended_.load() && !reached(now); ++tries) std::this_thread::sleep_for(100us);
  awaiting_.store(false);
  return json_text(Json{{"t", now.seconds()}, {"ended", ended_.load() || watch_.stopping()}});
}

Answer LiveSource::obey(const std::string& wish) {
  tap_.keep_all();  // whoever steers wants to read what came of it
  const Granted granted = grant(wish, watch_);
  if (granted == Granted::no) return fail("`" + wish + "` is no wish that a run knows");
  if (granted == Granted::steps) return await_steps();
  return json_text(Json{{"t", watch_.time().seconds()}, {"ended", ended_.load()}});
}

Answer LiveSource::latest(const std::string& topic, SimTime) {
  const auto channel = channel_of(topic);
  if (!channel) return fail("there is no topic `" + topic + "` yet");
  tap_.keep(*channel);
  const LiveRecord record = tap_.kept(*channel);
  if (record.payload.empty()) return std::string();
  std::string bytes;
  append_bytes(bytes, record.time.seconds());
  return bytes + record.payload;
}

Answer LiveSource::schema(const std::string& topic) {
  const auto channel = channel_of(topic);
  if (!channel) return fail("there is no topic `" + topic + "` yet");
  const SchemaText schema = tap_.channels(*channel).front().schema;
  return json_text(Json{{"name", schema.name}, {"encoding", schema.encoding}, {"text", schema.text}});
}

Names LiveSource::names() {
  Names names;
  const auto channels = tap_.channels();
  for (std::size_t i = 0; i < channels.size(); ++i) names.add(i, channels[i]);
  for (std::size_t i = 0; i < channels.size(); ++i) {
    if (!names.names_are_in_records(i)) continue;
    tap_.keep(i);
    const LiveRecord record = tap_.kept(i);
    if (!record.payload.empty()) names.learn(i, std::as_bytes(std::span(record.payload)));
  }
  return names;
}

Answer LiveSource::fields(const std::string& topic) {
  if (topic.empty()) return json_text(Json(names().numbers()));
  const auto channel = channel_of(topic);
  if (!channel) return fail("there is no topic `" + topic + "` yet");
  tap_.keep(*channel);
  for (int tries = 0; tries < 20 && tap_.kept(*channel).payload.empty(); ++tries) std::this_thread::sleep_for(10ms);
  Json names = Json::array();
  const LiveRecord record = tap_.kept(*channel);
  const auto decoder = decoder_of(tap_.channels(*channel).front());
  if (decoder && !record.payload.empty()) {
    decoder->each(std::as_bytes(std::span(record.payload)), [&](const std::string& path, const Scalar& value) {
      if (names.size() < 400 && to_number(value)) names.push_back(path);
    });
  }
  return json_text(names);
}

}  // namespace isochron::view
