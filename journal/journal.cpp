#include "journal/journal.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

namespace isochron {
namespace {

/// So much is taken from one ring before the others have their turn.
constexpr std::size_t turn_bytes = 512U << 10U;
/// A full chunk of small records is gathered in 5 ms; where it took longer, something was in the way.
constexpr WallSpan slow_chunk = std::chrono::milliseconds(15);

McapWriterOptions writer_options(const JournalOptions& options) {
  McapWriterOptions writer;
  writer.profile = "ros2";  // CDR with ros2msg definitions: rosbag2 reads it
  writer.chunk_bytes = options.chunk_bytes;
  writer.zstd_level = options.zstd_level;
  return writer;
}

/// A journal made by a real-time thread must not itself run as one: packing takes milliseconds. Among ordinary threads
/// it goes first where that is allowed: it needs little, but starved by other load it would lose records.
void become_writer_thread(int niceness) {
  const sched_param ordinary{};
  pthread_setschedparam(pthread_self(), SCHED_OTHER, &ordinary);
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), niceness);  // on Linux: of this thread alone
  pthread_setname_np(pthread_self(), "journal");
}

/// The share of its ring that the producer farthest ahead of us has filled.
double fullest(const std::vector<Producer*>& producers) {
  double most = 0;
  for (Producer* producer : producers) {
    const RecordRing& ring = producer->ring();
    most = std::max(most, static_cast<double>(ring.used()) / static_cast<double>(ring.capacity()));
  }
  return most;
}

}  // namespace

Result<std::unique_ptr<Journal>, DiskError> Journal::create(Disk& disk, Clock& clock, const std::string& path,
                                                            JournalOptions options) {
  auto file = disk.create(path);
  if (!file) return fail(file.error());
  std::unique_ptr<Journal> journal(new Journal(std::move(*file), clock, std::move(options)));
  if (const auto error = journal->error()) return fail(*error);
  return journal;
}

Journal::Journal(std::unique_ptr<File> file, Clock& clock, JournalOptions options)
    : clock_(clock),
      options_(std::move(options)),
      file_(std::move(file), writer_options(options_), options_.about_the_run),
      chunk_since_(clock.now()) {
  notice_error();
  if (options_.threaded) thread_ = std::thread([this] { run(); });
}

Journal::~Journal() {
  if (!closed_) close();
}

ChannelId Journal::channel(const std::string& topic, SchemaText schema, ChannelOptions options) {
  const std::lock_guard guard(lock_);
  ENSURE(channels_.size() < options_.channels_max, "more channels than JournalOptions::channels_max");
  channels_.push_back({topic, std::move(schema), std::move(options)});
  news_.store(true, std::memory_order_release);
  return {static_cast<std::uint16_t>(channels_.size() - 1)};
}

Producer& Journal::producer(std::string name, std::size_t ring_bytes) {
  Drain* const drain = options_.threaded ? nullptr : this;
  auto made = std::make_unique<Producer>(std::move(name), ring_bytes, options_.when_full, options_.channels_max, drain);
  const std::lock_guard guard(lock_);
  producers_.push_back(std::move(made));
  news_.store(true, std::memory_order_release);
  return *producers_.back();
}

void Journal::attach(std::string name, std::string media_type, std::span<const std::byte> data, SimTime time) {
  const std::lock_guard guard(lock_);
  attachments_.push_back({std::move(name), std::move(media_type), mcap::Bytes(data.begin(), data.end()),
                          static_cast<std::uint64_t>(std::max<std::int64_t>(0, time.ns()))});
  news_.store(true, std::memory_order_release);
}

void Journal::note(std::string record, mcap::TextMap entries) {
  const std::lock_guard guard(lock_);
  notes_.push_back({std::move(record), std::move(entries)});
  news_.store(true, std::memory_order_release);
}

std::optional<DiskError> Journal::error() const {
  const std::lock_guard guard(lock_);
  return error_;
}

std::uint64_t Journal::dropped() const {
  const std::lock_guard guard(lock_);
  std::uint64_t sum = 0;
  for (const auto& producer : producers_) sum += producer->dropped();
  return sum;
}

void Journal::run() {
  become_writer_thread(options_.niceness);
  while (!stop_.load(std::memory_order_acquire)) {
    if (!pump_once()) clock_.sleep_until(clock_.now() + options_.poll);
  }
}

bool Journal::pump() {
  ENSURE(!options_.threaded, "pump() is for journals without a thread");
  return pump_once();
}

bool Journal::pump_once() {
  if (news_.load(std::memory_order_acquire)) adopt_news();
  if (!file_.chunk_is_open()) chunk_since_ = clock_.now();
  bool moved = false;
  for (std::size_t i = 0; i < drained_.size(); ++i) moved |= empty_ring(i);
  if (file_.chunk_is_open() && clock_.now() - chunk_since_ >= options_.chunk_span) finish_chunk();
  notice_error();  // also of what is written without a chunk: channels, attachments
  return moved;
}

void Journal::adopt_news() {
  const std::lock_guard guard(lock_);
  news_.store(false, std::memory_order_relaxed);
  for (std::size_t i = file_.channels(); i < channels_.size(); ++i) {
    file_.define(channels_[i]);
    if (options_.tap != nullptr) options_.tap->defined(i, channels_[i]);
  }
  for (std::size_t i = drained_.size(); i < producers_.size(); ++i) drained_.push_back(producers_[i].get());
  for (const Attached& one : attachments_) {
    file_.attach({one.time, one.time, one.name, one.media_type, one.data});
  }
  for (const mcap::Metadata& one : notes_) file_.note(one);
  attachments_.clear();
  notes_.clear();
}

bool Journal::empty_ring(std::size_t producer) {
  RecordRing& ring = drained_[producer]->ring();
  RecordRing::Record record;
  std::size_t taken = 0;
  while (taken < turn_bytes && ring.peek(record)) {
    // The channel was made before the record, by whoever wrote it or told it: it is there to be adopted.
    if (record.channel >= file_.channels()) adopt_news();
    file_.accept(producer, record.channel, record.time, record.payload);
    if (options_.tap != nullptr) options_.tap->recorded(record.channel, record.time, record.payload);
    taken += record.payload.size() + 1;
    ring.pop(record);
    if (file_.chunk_is_full()) {
      ring.release();  // packing takes a while; the producer need not wait for it
      if (options_.when_full == WhenFull::block) ring.wake_producer();
      finish_chunk();
    }
  }
  if (taken == 0) return false;
  ring.release();
  if (options_.when_full == WhenFull::block) ring.wake_producer();
  return true;
}

/// Room was given back just now, so that somebody who waited has begun to fill the ring again.
bool Journal::pressed() const { return fullest(drained_) > (options_.when_full == WhenFull::block ? 0.25 : 0.5); }

void Journal::finish_chunk() {
  // Where records would be dropped, speed is worth more than space. Where somebody waits for us it is too, unless it is
  // the disk that is slow: then what is packed is there sooner. Where somebody soon might have to wait, it is worth
  // some.
  constexpr double soon = 1.0 / 16;
  const WallTime now = clock_.now();
  const bool slow_disk = now - chunk_since_ > slow_chunk;  // the one before it was written meanwhile
  chunk_since_ = now;
  const bool blocks = options_.when_full == WhenFull::block;
  Compress how = Compress::yes;
  if (blocks && fullest(drained_) > soon) how = Compress::quick;
  if (pressed() && !(blocks && slow_disk)) how = Compress::no;
  file_.finish_chunk(how);
  notice_error();
}

void Journal::notice_error() {
  if (!file_.error() || failed()) return;
  {
    const std::lock_guard guard(lock_);
    error_ = file_.error();
    failed_.store(true, std::memory_order_relaxed);
  }
  if (options_.on_failure) options_.on_failure(*file_.error());
}

JournalSummary Journal::close(const std::string& name, const std::string& media_type, const LastWords& last) {
  ENSURE(!closed_, "a journal is closed once");
  closed_ = true;
  stop_.store(true, std::memory_order_release);
  if (thread_.joinable()) thread_.join();
  while (pump_once()) {
  }
  if (last) attach_last(name, media_type, last);
  return summarise();
}

std::vector<std::uint64_t> Journal::dropped_by_channel() const {
  std::vector<std::uint64_t> dropped(channels_.size(), 0);
  for (const auto& producer : producers_) {
    if (producer->dropped() == 0) continue;
    for (std::size_t i = 0; i < channels_.size(); ++i) dropped[i] += producer->dropped({static_cast<std::uint16_t>(i)});
  }
  return dropped;
}

JournalSummary Journal::rest() {
  stop_.store(true, std::memory_order_release);
  if (thread_.joinable()) thread_.join();
  while (pump_once()) {
  }
  if (file_.chunk_is_open()) finish_chunk();
  return so_far();
}

void Journal::go_on() {
  stop_.store(false, std::memory_order_release);
  if (options_.threaded) thread_ = std::thread([this] { run(); });
}

JournalSummary Journal::so_far() {
  JournalSummary so_far;
  const std::vector<std::uint64_t> dropped = dropped_by_channel();
  so_far.digest = file_.digest(dropped);
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    so_far.channels.push_back({channels_[i].topic, file_.accepted(i), dropped[i]});
    so_far.messages += so_far.channels.back().messages;
    so_far.dropped += dropped[i];
  }
  so_far.error = error();
  return so_far;
}

void Journal::attach_last(const std::string& name, const std::string& media_type, const LastWords& last) {
  const std::string text = last(so_far());
  file_.attach({0, 0, name, media_type, std::as_bytes(std::span(text))});
}

JournalSummary Journal::summarise() {
  JournalSummary summary;
  const std::vector<std::uint64_t> dropped = dropped_by_channel();
  summary.digest = file_.finish(dropped, options_.sync_at_end);
  notice_error();
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const std::uint64_t lost = file_.accepted(i) - file_.written(i);
    summary.channels.push_back({channels_[i].topic, file_.written(i), dropped[i] + lost});
    summary.messages += summary.channels.back().messages;
    summary.dropped += summary.channels.back().dropped;
  }
  summary.bytes = file_.file_size();
  summary.error = error();
  return summary;
}

}  // namespace isochron
