#include "bridge/ros2/player.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "bridge/ros2/names.hpp"
#include "bridge/ros2/types.hpp"
#include "core/cdr.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "core/nearest_name.hpp"
#include "flow/definition.hpp"

namespace isochron::ros2 {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> files_of(const std::string& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().extension() == ".mcap") files.push_back(entry.path().string());
  }
  if (files.empty()) {
    throw InputError({}, path + " has no .mcap files", "record with `ros2 bag record -s mcap`, or convert the bag");
  }
  std::ranges::sort(files);  // rosbag2 numbers them: by length first, so that _10 comes after _9
  std::ranges::stable_sort(files, {}, &std::string::size);
  return files;
}

}  // namespace

std::string flow_of_topic(std::string_view topic) {
  std::string name(topic.substr(topic.starts_with('/') ? 1 : 0));
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; }, '_');
  return name;
}

Player::Player(PlaySpec spec) : spec_(std::move(spec)) {
  if (!(spec_.speed > 0) || !std::isfinite(spec_.speed)) throw InputError({}, "`speed` must be positive");
  if (spec_.from < SimSpan::zero()) throw InputError({}, "`from` must not be negative");
  open_files();
  begin_ = begin_of_bag();
  if (spec_.flows.empty()) {
    std::set<std::string> topics;
    for (const McapReader& file : files_) {
      for (const mcap::Channel& channel : file.channels()) {
        const mcap::Schema* schema = file.schema_of(channel);
        if (channel.encoding == "cdr" && schema != nullptr && schema->encoding == "ros2msg")
          topics.insert(channel.topic);
      }
    }
    for (const std::string& topic : topics) spec_.flows.emplace_back(flow_of_topic(topic), topic);
    if (topics.empty()) throw InputError({}, spec_.path + " has no topic that is CDR with a ros2msg definition");
  }
  for (const auto& [flow, topic] : spec_.flows) add_track(flow, topic);
}

void Player::open_files() {
  for (const std::string& file : files_of(spec_.path)) {
    auto opened = McapReader::open(disk_, file);
    if (!opened) throw InputError({}, opened.error().what);
    files_.push_back(std::move(opened).value());
  }
}

SimTime Player::begin_of_bag() const {
  SimTime begin = SimTime::never();
  for (const McapReader& file : files_) {
    if (file.header().library.starts_with("isochron")) return SimTime::zero();  // ours count from simulated zero
    if (file.statistics().message_count > 0) {
      begin = std::min(begin, SimTime::from_ns(static_cast<std::int64_t>(file.statistics().start_time)));
    }
  }
  return begin == SimTime::never() ? SimTime::zero() : begin;
}

void Player::add_track(const std::string& flow, const std::string& topic) {
  const mcap::Schema* schema = nullptr;
  std::vector<std::string> known;
  std::vector<MessageCursor> cursors;
  for (McapReader& file : files_) {
    for (const mcap::Channel& channel : file.channels()) known.push_back(channel.topic);
    const mcap::Channel* channel = file.channel(topic);
    if (channel == nullptr) continue;
    const mcap::Schema* found = file.schema_of(*channel);
    if (channel->encoding != "cdr" || found == nullptr || found->encoding != "ros2msg") {
      throw InputError({}, spec_.path + ": " + foreign_name(topic) + " is " + foreign_name(channel->encoding) +
                               ", not CDR with a ros2msg definition");
    }
    if (schema != nullptr && (found->name != schema->name || found->text != schema->text)) {
      throw InputError({}, spec_.path + ": " + foreign_name(topic) + " has several types");
    }
    schema = found;
    cursors.push_back(file.messages({{topic}, begin_ + spec_.from, SimTime::never()}));
  }
  if (schema == nullptr) {
    throw InputError({}, spec_.path + " has no topic " + foreign_name(topic), nearest_hint(topic, known));
  }
  auto parsed = parse_ros2msg(schema->name, schema->text);
  if (!parsed) throw InputError({}, spec_.path + ": " + parsed.error());
  const flow::PayloadType& type = flow::dynamic_type(full_type_name(schema->name) + "\n" + canonical_text(*parsed));
  const auto& fields = parsed->messages.front().fields;
  const bool header = !fields.empty() && fields.front().type == FieldType::message &&
                      parsed->messages[fields.front().message].name == "std_msgs/Header";
  tracks_.push_back({topic, std::move(cursors), 0, Checker(std::move(*parsed)), header});
  load(tracks_.back(), SimTime::before_all());
  add_output({flow, flow::FlowKind::predictive, std::chrono::seconds(1), tracks_.back().at, {}, 4, &type, true});
}

void Player::load(Track& track, SimTime after) {
  track.at = SimTime::never();
  for (; track.file < track.cursors.size(); ++track.file) {
    const auto message = track.cursors[track.file].next();
    if (!message) continue;
    const double since = static_cast<double>((message->time - begin_ - spec_.from).ns());
    const auto scaled = spec_.speed == 1 ? (message->time - begin_ - spec_.from).ns()
                                         : static_cast<std::int64_t>(std::llround(since / spec_.speed));
    track.at = std::max(SimTime::from_ns(scaled),
                        after == SimTime::before_all() ? SimTime::zero() : after + SimSpan::from_ns(1));
    track.next.assign(message->data.begin(), message->data.end());
    return;
  }
}

void Player::fill(std::uint32_t output, void* payload, SimTime t) {
  Track& track = tracks_[output];
  if (const char* why = track.checker.refuses(track.next); *why != '\0') {
    throw std::runtime_error(spec_.path + ": a message of " + track.topic + " does not fit its definition: " + why);
  }
  if (spec_.restamp && track.has_header) {
    cdr::Writer(track.next.data() + cdr_header_size).put(t);
  }
  if (!output_type(output).decode(payload, track.next)) {
    throw std::runtime_error(spec_.path + ": a message of " + track.topic + " does not fit its definition");
  }
  load(track, t);
  set_next_at(output, track.at);
}

}  // namespace isochron::ros2
