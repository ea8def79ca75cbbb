#pragma once
// The journal of a run: everything that happened, in one MCAP file. Threads hand records to their producers; a writer
// thread empties the rings, adds to the digest, packs chunks and writes them.
//
//     thread A -> Producer (ring) --.
//     thread B -> Producer (ring) ----> writer thread: number, digest, chunk, zstd -> File
//     thread C -> Producer (ring) --'
//
// A chunk is finished when it is full (4 MiB) and at least each half second of wall time, so that of a run that is
// killed less than a second is missing; recover() (journal/recover.hpp) then finishes the file. When the writer thread
// cannot follow, chunks are stored unpacked, which is quicker, before anything is dropped.
//
// Promises: log time is simulated time in nanoseconds. The digest depends on what each channel was told, in order, and
//           on nothing else. close() accounts for each record: written or dropped.
// Requires: channel() and producer() at set-up (they may come later, but lock and allocate); producers are silent by
//           the time of close().
// Threads:  channel(), producer(), attach(), note(), error(): any. close(): once, by the owner.
// Fails:    when the disk does, what was written stays readable, error() tells, records go on being counted and hashed,
//           and nobody is blocked: whether the run stops is for its owner to decide.

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "core/clock.hpp"
#include "core/schema.hpp"
#include "journal/journal_file.hpp"
#include "journal/producer.hpp"
#include "journal/tap.hpp"

namespace isochron {

struct JournalOptions {
  WhenFull when_full = WhenFull::drop;
  /// False: no thread; the owner calls pump(). With WhenFull::block a full ring then pumps by itself.
  bool threaded = true;
  std::size_t chunk_bytes = 4U << 20U;
  WallSpan chunk_span = std::chrono::milliseconds(500);
  WallSpan poll = std::chrono::milliseconds(1);  // how often the writer thread looks into empty rings
  int zstd_level = 1;
  int niceness = -10;  // of the writer thread, where the system allows it
  std::size_t channels_max = 4096;
  bool sync_at_end = false;   // also survive a crash of the machine, at the price of waiting for the device
  JournalTap* tap = nullptr;  // sees what is written; outlives the journal
  std::function<void(const DiskError&)> on_failure = {};  // once, from the writing side, when the disk refuses
  mcap::TextMap about_the_run = {};                       // machine, seed, scenario …; see journal/machine.hpp
};

struct ChannelSummary {
  std::string topic;
  std::uint64_t messages = 0;  // in the file
  std::uint64_t dropped = 0;   // because a ring was full, or the disk failed
};

struct JournalSummary {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;  // of the file
  std::uint64_t dropped = 0;
  std::vector<ChannelSummary> channels;
  Digest digest;
  std::optional<DiskError> error;
};

class Journal : private Producer::Drain {
 public:
  static Result<std::unique_ptr<Journal>, DiskError> create(Disk& disk, Clock& clock, const std::string& path,
                                                            JournalOptions options = {});
  /// Closes if that was not done.
  ~Journal() override;
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  ChannelId channel(const std::string& topic, SchemaText schema, ChannelOptions options = {});
  template <Message T>
  ChannelId channel(const std::string& topic, ChannelOptions options = {}) {
    return channel(topic, SchemaText{message_name<T>(), ros2msg_schema<T>()}, std::move(options));
  }

  static constexpr std::size_t default_ring_bytes = 4U << 20U;
  Producer& producer(std::string name, std::size_t ring_bytes = default_ring_bytes);

  /// A file kept inside the journal: the scenario, a model, a report.
  void attach(std::string name, std::string media_type, std::span<const std::byte> data,
              SimTime time = SimTime::zero());
  void note(std::string record, mcap::TextMap entries);

  /// What the disk refused, once it did.
  [[nodiscard]] std::optional<DiskError> error() const;
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_relaxed); }
  /// Because rings were full.
  [[nodiscard]] std::uint64_t dropped() const;

  /// Takes what is in the rings now; false: nothing was. Requires: not threaded.
  bool pump();
  /// What was recorded so far, all that producers have said included. The writer thread ends, so that this process may
  /// be forked; go_on() starts another one. Requires: producers are silent between the two.
  JournalSummary rest();
  void go_on();
  /// `last`: a file kept inside the journal that tells of the whole record: it is written when all else is. Its summary
  /// lacks the size of the file, which is not known then.
  using LastWords = std::function<std::string(const JournalSummary& so_far)>;
  JournalSummary close(const std::string& name = "", const std::string& media_type = "", const LastWords& last = {});

 private:
  Journal(std::unique_ptr<File> file, Clock& clock, JournalOptions options);
  struct Attached {
    std::string name, media_type;
    mcap::Bytes data;
    std::uint64_t time;
  };
  void drain() override { pump_once(); }
  void run();
  bool pump_once();
  bool empty_ring(std::size_t producer);
  void adopt_news();
  void finish_chunk();
  void notice_error();
  [[nodiscard]] bool pressed() const;
  [[nodiscard]] std::vector<std::uint64_t> dropped_by_channel() const;
  [[nodiscard]] JournalSummary so_far();
  void attach_last(const std::string& name, const std::string& media_type, const LastWords& last);
  JournalSummary summarise();

  Clock& clock_;
  JournalOptions options_;

  // Set by anybody under the lock; `news_` says that there is something for the writer side to look at.
  mutable std::mutex lock_;
  std::atomic<bool> news_{false};
  std::vector<ChannelDefinition> channels_;
  std::vector<std::unique_ptr<Producer>> producers_;
  std::vector<Attached> attachments_;
  std::vector<mcap::Metadata> notes_;
  std::optional<DiskError> error_;
  std::atomic<bool> failed_{false};

  // The writer side: the thread, or whoever pumps.
  JournalFile file_;
  std::vector<Producer*> drained_;
  WallTime chunk_since_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
  bool closed_ = false;
};

}  // namespace isochron
