#include "journal/diff.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/time_text.hpp"
#include "journal/digest.hpp"
#include "journal/journal_metadata.hpp"

namespace isochron {
namespace {

constexpr std::size_t fields_shown = 10;

struct Held {
  const mcap::Channel* channel = nullptr;
  SimTime time;
  std::uint32_t sequence = 0;
  mcap::Bytes data;
};

/// The records of the digest's channels in the order (time, topic, sequence).
class OrderedRecords {
 public:
  explicit OrderedRecords(McapReader& reader) : cursor_(reader.messages()), ahead_(take()) {}

  [[nodiscard]] const Held* front() {
    if (next_ == instant_.size()) gather();
    return next_ == instant_.size() ? nullptr : &instant_[next_];
  }
  void pop() { ++next_; }

 private:
  std::optional<Held> take() {
    while (const auto message = cursor_.next()) {
      if (!in_digest(*message->channel)) continue;
      return Held{message->channel, message->time, message->sequence,
                  mcap::Bytes(message->data.begin(), message->data.end())};
    }
    return std::nullopt;
  }
  /// All records of the next instant, sorted: in the file they stand as the threads' luck had it.
  void gather() {
    instant_.clear();
    next_ = 0;
    while (ahead_ && (instant_.empty() || ahead_->time == instant_.front().time)) {
      instant_.push_back(std::move(*ahead_));
      ahead_ = take();
    }
    std::stable_sort(instant_.begin(), instant_.end(), [](const Held& a, const Held& b) {
      return std::tie(a.channel->topic, a.sequence) < std::tie(b.channel->topic, b.sequence);
    });
  }
  MessageCursor cursor_;
  std::optional<Held> ahead_;
  std::vector<Held> instant_;
  std::size_t next_ = 0;
};

bool before(const Held& a, const Held& b) {
  return std::tie(a.time, a.channel->topic, a.sequence) < std::tie(b.time, b.channel->topic, b.sequence);
}

std::string as_hex(const mcap::Bytes& bytes) {
  std::string text = std::to_string(bytes.size()) + " bytes:";
  for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 32); ++i) {
    char byte[8];
    std::snprintf(byte, sizeof byte, " %02x", static_cast<unsigned>(bytes[i]));
    text += byte;
  }
  return text + (bytes.size() > 32 ? " …" : "");
}

std::string print(const McapReader& reader, const Held& record) {
  const auto decoder = Decoder::make(*record.channel, reader.schema_of(*record.channel));
  return decoder ? decoder->print(record.data) : as_hex(record.data);
}

std::vector<Difference::Field> differing_fields(const McapReader& reader_a, const Held& a, const McapReader& reader_b,
                                                const Held& b) {
  const auto decoder_a = Decoder::make(*a.channel, reader_a.schema_of(*a.channel));
  const auto decoder_b = Decoder::make(*b.channel, reader_b.schema_of(*b.channel));
  std::vector<Difference::Field> fields;
  const mcap::Schema* schema_a = reader_a.schema_of(*a.channel);
  const mcap::Schema* schema_b = reader_b.schema_of(*b.channel);
  if (schema_a != nullptr && schema_b != nullptr && schema_a->name != schema_b->name) {
    fields.push_back({"the message's type", schema_a->name, schema_b->name});
  }
  if (!decoder_a || !decoder_b) return fields;
  const auto values_a = decoder_a->values(a.data);
  const auto values_b = decoder_b->values(b.data);
  for (std::size_t i = 0; i < std::max(values_a.size(), values_b.size()) && fields.size() < fields_shown; ++i) {
    const NamedValue* in_a = i < values_a.size() ? &values_a[i] : nullptr;
    const NamedValue* in_b = i < values_b.size() ? &values_b[i] : nullptr;
    const std::string text_a = in_a != nullptr ? to_string(in_a->value) : "nothing";
    const std::string text_b = in_b != nullptr ? to_string(in_b->value) : "nothing";
    if (text_a != text_b) fields.push_back({in_a != nullptr ? in_a->path : in_b->path, text_a, text_b});
  }
  return fields;
}

Difference describe(Difference::Kind kind, const Held& record) {
  Difference difference;
  difference.kind = kind;
  difference.topic = record.channel->topic;
  const auto participant = record.channel->metadata.find(journal_metadata::participant);
  if (participant != record.channel->metadata.end()) difference.participant = participant->second;
  difference.time = record.time;
  difference.sequence = record.sequence;
  return difference;
}

Difference differs(const McapReader& reader_a, const Held& a, const McapReader& reader_b, const Held& b) {
  Difference difference = describe(Difference::Kind::value, a);
  difference.a = print(reader_a, a);
  difference.b = print(reader_b, b);
  difference.fields = differing_fields(reader_a, a, reader_b, b);
  return difference;
}

/// When the other run next says something on this topic.
std::optional<SimTime> next_on(const std::string& topic, OrderedRecords& records) {
  for (const Held* record = records.front(); record != nullptr; record = records.front()) {
    if (record->channel->topic == topic) return record->time;
    records.pop();
  }
  return std::nullopt;
}

using NamesOfTopics = std::map<std::string, std::set<std::string>>;

/// What the messages of each topic are called: a topic may stand on several channels.
NamesOfTopics message_names(const McapReader& reader) {
  NamesOfTopics names;
  for (const mcap::Channel& channel : reader.channels()) {
    const mcap::Schema* schema = reader.schema_of(channel);
    names[channel.topic].insert(schema == nullptr ? "" : schema->name);
  }
  return names;
}

/// Topics of both whose messages are not called the same.
std::set<std::string> renamed_schemas(const McapReader& a, const McapReader& b) {
  std::set<std::string> topics;
  const NamesOfTopics in_b = message_names(b);
  for (const auto& [topic, names] : message_names(a)) {
    const auto other = in_b.find(topic);
    if (other != in_b.end() && other->second != names) topics.insert(topic);
  }
  return topics;
}

std::optional<Difference> walk(McapReader& reader_a, McapReader& reader_b, std::uint64_t& equal) {
  OrderedRecords in_a(reader_a);
  OrderedRecords in_b(reader_b);
  const std::set<std::string> renamed = renamed_schemas(reader_a, reader_b);
  for (;; in_a.pop(), in_b.pop(), ++equal) {
    const Held* a = in_a.front();
    const Held* b = in_b.front();
    if (a == nullptr && b == nullptr) return std::nullopt;
    if (b == nullptr || (a != nullptr && before(*a, *b))) {
      Difference difference = describe(Difference::Kind::only_in_a, *a);
      difference.a = print(reader_a, *a);
      difference.elsewhere = next_on(difference.topic, in_b);
      return difference;
    }
    if (a == nullptr || before(*b, *a)) {
      Difference difference = describe(Difference::Kind::only_in_b, *b);
      difference.b = print(reader_b, *b);
      difference.elsewhere = next_on(difference.topic, in_a);
      return difference;
    }
    if (a->data != b->data || renamed.contains(a->channel->topic)) return differs(reader_a, *a, reader_b, *b);
  }
}

void note_state_of(McapReader& reader, std::vector<std::string>& notes) {
  if (reader.ending() == Ending::cut) notes.push_back(reader.name() + " was not finished; its end is missing");
  for (const Damage& damage : reader.damage()) notes.push_back(reader.name() + " is damaged " + to_string(damage));
  const Digest digest = recorded_digest(reader);
  if (!digest.complete) notes.push_back(reader.name() + " is not complete: " + digest.why_incomplete);
}

/// What only one has, or both have with another content. Nothing is said of journals that do not tell.
void compare_parts(const McapReader& a, const McapReader& b, const char* record, const std::string& kind,
                   std::vector<std::string>& differ) {
  const mcap::TextMap in_a = a.metadata(record), in_b = b.metadata(record);
  if (in_a.empty() || in_b.empty()) return;
  for (const auto& [name, hash] : in_a) {
    const auto other = in_b.find(name);
    if (other == in_b.end()) {
      differ.push_back(kind + name + " is in " + a.name() + " only");
    } else if (other->second != hash) {
      differ.push_back(kind + name + " differs: " + hash.substr(0, 12) + " and " + other->second.substr(0, 12));
    }
  }
  for (const auto& [name, hash] : in_b) {
    if (!in_a.contains(name)) differ.push_back(kind + name + " is in " + b.name() + " only");
  }
}

void note_machines(const McapReader& a, const McapReader& b, std::vector<std::string>& notes) {
  const auto variant = [](const McapReader& reader) {
    const mcap::TextMap about = reader.metadata(journal_metadata::record);
    const auto found = about.find(journal_metadata::cpu_math);
    return found == about.end() ? std::string() : found->second;
  };
  const std::string in_a = variant(a);
  const std::string in_b = variant(b);
  if (in_a.empty() || in_b.empty()) return;
  // What the CPU offers does not matter where the same bits came out, behind the blank.
  if (in_a.substr(in_a.rfind(' ') + 1) == in_b.substr(in_b.rfind(' ') + 1)) return;
  notes.push_back("the runs used different variants of the CPU's mathematics (" + in_a + " and " + in_b +
                  "): sin, exp and others may differ in their last bit");
}

}  // namespace

std::string to_string(const Difference& d) {
  std::string text = d.topic + (d.participant.empty() ? "" : " (" + d.participant + ")") + " at " + to_string(d.time) +
                     ", record " + std::to_string(d.sequence) + ":";
  if (d.kind != Difference::Kind::value) {
    const bool in_a = d.kind == Difference::Kind::only_in_a;
    const std::string other = in_a ? "B" : "A";
    text += " missing in " + other + "\n  " + (in_a ? "A: " + d.a : "B: " + d.b);
    text += d.elsewhere ? "\n  " + other + "'s next record on this topic is at " + to_string(*d.elsewhere)
                        : "\n  " + other + " has no further record on this topic";
    return text;
  }
  for (const Difference::Field& field : d.fields) text += "\n  " + field.path + ": A " + field.a + ", B " + field.b;
  if (d.fields.empty()) text += "\n  A: " + d.a + "\n  B: " + d.b;
  return text;
}

std::optional<Difference> first_difference(McapReader& a, McapReader& b) {
  std::uint64_t equal = 0;
  return walk(a, b, equal);
}

Comparison compare(McapReader& a, McapReader& b) {
  Comparison comparison;
  comparison.first = walk(a, b, comparison.equal_records);
  compare_parts(a, b, journal_metadata::files, "", comparison.made_of);
  compare_parts(a, b, journal_metadata::libraries, "library ", comparison.made_of);
  note_machines(a, b, comparison.notes);
  note_state_of(a, comparison.notes);
  note_state_of(b, comparison.notes);
  return comparison;
}

}  // namespace isochron
