#include "journal/merge.hpp"

#include <algorithm>

#include "journal/journal_metadata.hpp"
#include "journal/mcap_writer.hpp"

namespace isochron {
namespace {

/// One input: where it stands, and what its channels are called in the output.
struct Source {
  McapReader reader;
  std::optional<MessageCursor> cursor;
  std::optional<MessageView> next;
  std::vector<std::uint16_t> channel;
  std::vector<std::size_t> in_digest;  // number for the digest, or none

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
};

class Merge {
 public:
  Merge(std::vector<Source>& sources, File& file) : sources_(sources), writer_(file, options_of(sources)) {}

  Result<MergeSummary, JournalError> run(const std::vector<Enclosed>& enclosed) {
    writer_.start();
    for (Source& source : sources_) take_channels(source);
    take_extras(enclosed);
    while (Source* source = earliest()) take_message(*source);
    return finish();
  }

 private:
  static McapWriterOptions options_of(const std::vector<Source>& sources) {
    McapWriterOptions options;
    options.profile = sources.front().reader.header().profile;
    return options;
  }

  void take_channels(Source& source) {
    source.channel.resize(source.reader.channel_id_end());
    source.in_digest.assign(source.reader.channel_id_end(), Source::none);
    for (const mcap::Channel& channel : source.reader.channels()) {
      const mcap::Schema* schema = source.reader.schema_of(channel);
      const std::uint16_t id = schema == nullptr ? 0 : writer_.schema(schema->name, schema->encoding, schema->text);
      source.channel[channel.id] = writer_.channel(channel.topic, channel.encoding, id, channel.metadata);
      if (in_digest(channel)) {
        source.in_digest[channel.id] = digest_.channel(channel.topic, schema == nullptr ? "" : schema->name);
      }
    }
    source.cursor.emplace(source.reader.messages());
    source.next = source.cursor->next();
  }

  /// What belongs to the whole run is the same in every input; the report of one member is not that of the run.
  void take_extras(const std::vector<Enclosed>& enclosed) {
    McapReader& first = sources_.front().reader;
    for (const mcap::Metadata& metadata : first.metadata()) {
      if (metadata.name == journal_metadata::record) continue;
      writer_.metadata(metadata);
    }
    for (const mcap::AttachmentIndex& index : first.attachments()) {
      if (index.name == "report.json") continue;
      const auto data = first.attachment(index);
      if (data) writer_.attachment({index.log_time, index.create_time, index.name, index.media_type, *data});
    }
    for (const Enclosed& file : enclosed) {
      const auto bytes = std::as_bytes(std::span(file.text));
      writer_.attachment({0, 0, file.name, file.media_type, {bytes.begin(), bytes.end()}});
    }
  }

  Source* earliest() {
    Source* first = nullptr;
    for (Source& source : sources_) {
      if (source.next && (first == nullptr || source.next->time < first->next->time)) first = &source;
    }
    return first;
  }

  void take_message(Source& source) {
    const MessageView& message = *source.next;
    const std::uint16_t id = message.channel->id;
    writer_.message({source.channel[id], message.sequence, static_cast<std::uint64_t>(message.time.ns()),
                     message.publish_time, message.data});
    if (source.in_digest[id] != Source::none) digest_.add(source.in_digest[id], message.time, message.data);
    if (writer_.chunk_is_full()) writer_.finish_chunk();
    source.next = source.cursor->next();
  }

  Result<MergeSummary, JournalError> finish() {
    for (const Source& source : sources_) {
      const Digest own = recorded_digest(source.reader);
      if (!own.complete) digest_.mark_incomplete(source.reader.name() + ": " + own.why_incomplete);
      if (source.reader.ending() != Ending::whole) digest_.mark_incomplete(source.reader.name() + " was cut");
    }
    MergeSummary summary;
    summary.digest = digest_.digest();
    mcap::TextMap notes = sources_.front().reader.metadata(journal_metadata::record);
    notes[journal_metadata::digest] = summary.digest.hex;
    if (!summary.digest.complete) notes[journal_metadata::incomplete] = summary.digest.why_incomplete;
    writer_.metadata({journal_metadata::record, std::move(notes)});
    if (const auto finished = writer_.finish(); !finished) return fail(JournalError{finished.error().what});
    summary.messages = writer_.statistics().message_count;
    summary.bytes = writer_.file_size();
    return summary;
  }

  std::vector<Source>& sources_;
  McapWriter writer_;
  DigestBuilder digest_;
};

Result<MergeSummary, JournalError> merge_into(Disk& disk, std::vector<Source>& sources, const std::string& path,
                                              const std::vector<Enclosed>& enclosed) {
  auto file = disk.create(path);
  if (!file) return fail(JournalError{file.error().what});
  auto merged = Merge(sources, **file).run(enclosed);
  if (merged) (void)(*file)->sync();
  return merged;
}

}  // namespace

Result<MergeSummary, JournalError> merge_journals(Disk& disk, const std::vector<std::string>& in,
                                                  const std::string& out, const std::vector<Enclosed>& enclosed) {
  std::vector<Source> sources;
  for (const std::string& path : in) {
    auto reader = McapReader::open(disk, path);
    if (!reader) return fail(reader.error());
    sources.push_back({std::move(*reader), {}, {}, {}, {}});
  }
  if (sources.empty()) return fail(JournalError{"no journal to merge"});
  const std::string half = out + ".merging";
  auto merged = merge_into(disk, sources, half, enclosed);
  if (merged) {
    if (const auto renamed = disk.rename(half, out); !renamed) merged = fail(JournalError{renamed.error().what});
  }
  if (!merged) (void)disk.remove(half);
  return merged;
}

}  // namespace isochron
