#include "journal/recover.hpp"

#include "journal/journal_metadata.hpp"
#include "journal/mcap_writer.hpp"

namespace isochron {
namespace {

class Copy {
 public:
  Copy(McapReader& reader, File& file)
      : reader_(reader), writer_(file, options_of(reader)), new_id_(reader.channel_id_end()) {}

  Result<RecoverSummary, JournalError> run() {
    writer_.start();
    copy_channels();
    copy_extras();
    copy_messages();
    // The digest of what could be read; who compares it must know that it is not that of the run.
    summary_.digest = digest_of(reader_);
    note_recovery();
    if (const auto finished = writer_.finish(); !finished) return fail(JournalError{finished.error().what});
    summary_.was_whole = reader_.ending() == Ending::whole && reader_.damage().empty();
    summary_.bytes = writer_.file_size();
    summary_.messages = writer_.statistics().message_count;
    summary_.damage = reader_.damage();
    return summary_;
  }

 private:
  static McapWriterOptions options_of(const McapReader& reader) {
    McapWriterOptions options;
    options.profile = reader.header().profile;
    return options;
  }

  void copy_channels() {
    for (const mcap::Channel& channel : reader_.channels()) {
      const mcap::Schema* schema = reader_.schema_of(channel);
      const std::uint16_t id = schema == nullptr ? 0 : writer_.schema(schema->name, schema->encoding, schema->text);
      new_id_[channel.id] = writer_.channel(channel.topic, channel.encoding, id, channel.metadata);
    }
  }

  void copy_extras() {
    for (const mcap::Metadata& metadata : reader_.metadata()) writer_.metadata(metadata);
    for (const mcap::AttachmentIndex& index : reader_.attachments()) {
      const auto data = reader_.attachment(index);
      if (data) writer_.attachment({index.log_time, index.create_time, index.name, index.media_type, *data});
    }
  }

  void copy_messages() {
    MessageCursor cursor = reader_.messages_as_written();
    while (const auto message = cursor.next()) {
      writer_.message({new_id_[message->channel->id], message->sequence, static_cast<std::uint64_t>(message->time.ns()),
                       message->publish_time, message->data});
      if (writer_.chunk_is_full()) writer_.finish_chunk();
    }
  }

  void note_recovery() {
    mcap::TextMap notes{{journal_metadata::digest, summary_.digest.hex}};
    if (!summary_.digest.complete) {
      notes[journal_metadata::incomplete] = summary_.digest.why_incomplete;
      notes[journal_metadata::recovered] = "true";
    }
    writer_.metadata({journal_metadata::record, std::move(notes)});
  }

  McapReader& reader_;
  McapWriter writer_;
  std::vector<std::uint16_t> new_id_;
  RecoverSummary summary_;
};

Result<RecoverSummary, JournalError> copy_to(Disk& disk, McapReader& reader, const std::string& path) {
  auto file = disk.create(path);
  if (!file) return fail(JournalError{file.error().what});
  auto copied = Copy(reader, **file).run();
  if (copied) {
    if (const auto synced = (*file)->sync(); !synced) return fail(JournalError{synced.error().what});
  }
  return copied;
}

}  // namespace

Result<RecoverSummary, JournalError> recover(Disk& disk, const std::string& in, const std::string& out) {
  auto reader = McapReader::open(disk, in);
  if (!reader) return fail(reader.error());
  if (in == out && reader->ending() == Ending::whole) {
    // Damage inside of chunks shows only when they are read.
    const Digest digest = digest_of(*reader);
    if (reader->damage().empty()) {
      return RecoverSummary{true, reader->statistics().message_count, reader->file_size(), {}, digest};
    }
  }
  const std::string unfinished = out + ".recovering";
  auto copied = copy_to(disk, *reader, unfinished);
  if (!copied) {
    (void)disk.remove(unfinished);
    return copied;
  }
  if (const auto renamed = disk.rename(unfinished, out); !renamed) {
    (void)disk.remove(unfinished);
    return fail(JournalError{renamed.error().what});
  }
  return copied;
}

}  // namespace isochron
