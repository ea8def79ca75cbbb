#include "journal/journal_file.hpp"

#include <numeric>

#include "journal/journal_metadata.hpp"

namespace isochron {

JournalFile::JournalFile(std::unique_ptr<File> file, McapWriterOptions options, const mcap::TextMap& about_the_run)
    : file_(std::move(file)), writer_(*file_, std::move(options)) {
  writer_.start();
  // At the start, so that a journal whose run was killed says where it ran.
  if (!about_the_run.empty()) writer_.metadata({journal_metadata::record, about_the_run});
}

void JournalFile::define(const ChannelDefinition& channel) {
  const SchemaText& schema = channel.schema;
  mcap::TextMap metadata = channel.options.metadata;
  if (!channel.options.in_digest) metadata[in_digest_key] = "false";
  const std::uint16_t schema_id = schema.name.empty() ? 0 : writer_.schema(schema.name, schema.encoding, schema.text);
  State state;
  state.topic = channel.topic;
  state.id = writer_.channel(channel.topic, channel.options.message_encoding, schema_id, metadata);
  if (channel.options.in_digest) state.digest = digest_.channel(channel.topic, schema.name);
  channels_.push_back(std::move(state));
}

void JournalFile::accept(std::size_t producer, std::size_t channel, SimTime time, std::span<const std::byte> payload) {
  State& state = channels_[channel];
  if (state.digest != none) {
    check_single_producer(state, producer);
    digest_.add(state.digest, time, payload);
  }
  const auto log_time = static_cast<std::uint64_t>(time.ns());
  writer_.message({state.id, static_cast<std::uint32_t>(state.accepted), log_time, log_time, payload});
  ++state.accepted;
}

void JournalFile::check_single_producer(State& channel, std::size_t producer) {
  if (channel.producer == producer) return;
  if (channel.producer == none) {
    channel.producer = producer;
    return;
  }
  digest_.mark_incomplete("two producers wrote to " + channel.topic + ", so that its order is not defined");
}

Digest JournalFile::digest(const std::vector<std::uint64_t>& dropped) {
  std::uint64_t of_digest = 0;
  for (std::size_t i = 0; i < channels_.size(); ++i) of_digest += channels_[i].digest != none ? dropped[i] : 0;
  if (of_digest > 0) digest_.mark_incomplete(std::to_string(of_digest) + " records were dropped");
  return digest_.digest();
}

Digest JournalFile::finish(const std::vector<std::uint64_t>& dropped, bool sync) {
  Digest digest = this->digest(dropped);
  note_end(digest, dropped);
  const auto finished = writer_.finish();
  if (finished && sync) (void)file_->sync();
  return digest;
}

void JournalFile::note_end(const Digest& digest, const std::vector<std::uint64_t>& dropped) {
  mcap::TextMap end{
      {journal_metadata::digest, digest.hex},
      {journal_metadata::dropped, std::to_string(std::accumulate(dropped.begin(), dropped.end(), std::uint64_t{0}))}};
  if (!digest.complete) end[journal_metadata::incomplete] = digest.why_incomplete;
  writer_.metadata({journal_metadata::record, std::move(end)});

  mcap::TextMap by_topic;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    if (dropped[i] > 0) by_topic[channels_[i].topic] = std::to_string(dropped[i]);
  }
  if (!by_topic.empty()) writer_.metadata({"isochron.dropped", std::move(by_topic)});
}

}  // namespace isochron
