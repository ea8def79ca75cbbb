#include "core/drift.hpp"

#include <algorithm>
#include <bit>

#include "core/ensure.hpp"

namespace isochron {

DriftSeries::DriftSeries(std::size_t points) : limit_(points) {
  ENSURE(points >= 2, "a series needs room for two points");
  points_.reserve(points);
}

void DriftSeries::add(SimTime slowest, SimSpan delta) {
  if (points_.empty() || slowest > points_.back().until) {
    if (points_.size() == limit_) {
      for (std::size_t i = 0; i < limit_ / 2; ++i) {
        points_[i] = {points_[2 * i + 1].until, std::max(points_[2 * i].most, points_[2 * i + 1].most)};
      }
      points_.resize(limit_ / 2);
      stretch_ += stretch_;
    }
    points_.push_back({slowest + stretch_, delta});
  } else {
    points_.back().most = std::max(points_.back().most, delta);
  }
}

struct DriftLedger::Record {
  WallTime when;
  SimTime progress;
};

// Single producer (the participant), single consumer (the collector). The producer owns `head`, the consumer `tail`;
// each publishes its index with release after touching the records, and reads the other's with acquire before. The
// producer keeps a copy of the last tail it saw and looks again only when the ring seems full.
struct DriftLedger::Ring {
  explicit Ring(std::size_t size, SimTime start) : records(size), newest(start.ns()) {}
  std::vector<Record> records;
  alignas(64) std::atomic<std::uint64_t> head{0};
  std::uint64_t tail_seen = 0;
  std::atomic<std::int64_t> newest;
  std::atomic<std::uint64_t> missed{0};
  alignas(64) std::atomic<std::uint64_t> tail{0};

  void push(Record record) {
    const std::uint64_t h = head.load(std::memory_order_relaxed);
    if (h - tail_seen == records.size()) {
      tail_seen = tail.load(std::memory_order_acquire);
      if (h - tail_seen == records.size()) {
        missed.store(missed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return;
      }
    }
    records[h & (records.size() - 1)] = record;
    head.store(h + 1, std::memory_order_release);
  }
};

DriftLedger::DriftLedger(std::size_t participants, std::size_t records, SimTime start)
    : at_(participants, start),
      merged_(participants, WallTime::before_all()),
      least_(start),
      at_least_(participants),
      most_(start) {
  merging_.resize(participants);
  earliest_.reserve(participants);
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(records, 2));
  for (std::size_t i = 0; i < participants; ++i) rings_.push_back(std::make_unique<Ring>(size, start));
}

DriftLedger::~DriftLedger() = default;

void DriftLedger::record(ParticipantId who, WallTime when, SimTime progress) {
  Ring& ring = *rings_[who.index()];
  ring.push({when, progress});
  ring.newest.store(progress.ns(), std::memory_order_relaxed);
}

void DriftLedger::leave(ParticipantId who, WallTime when) { record(who, when, SimTime::never()); }

void DriftLedger::fold(const std::function<void(SimSpan)>& sample) { merge(false, sample); }
void DriftLedger::settle(const std::function<void(SimSpan)>& sample) { merge(true, sample); }

void DriftLedger::merge(bool all, const std::function<void(SimSpan)>& sample) {
  std::vector<Merging>& reading = merging_;
  std::vector<std::pair<WallTime, std::uint32_t>>& heap = earliest_;
  WallTime certain = WallTime::never();  // no record earlier than this can still come
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    Ring& ring = *rings_[i];
    reading[i] = {ring.tail.load(std::memory_order_relaxed), ring.head.load(std::memory_order_acquire)};
    if (all || at_[i] == SimTime::never()) continue;
    if (reading[i].end == reading[i].next) {
      certain = std::min(certain, merged_[i]);
      continue;
    }
    const Record& last = ring.records[(reading[i].end - 1) & (ring.records.size() - 1)];
    if (last.progress != SimTime::never()) certain = std::min(certain, last.when);
  }

  // A heap of (stamp, participant): the earliest first, the lower index among equals.
  const auto later = [](const auto& a, const auto& b) { return a > b; };
  const auto offer = [&](std::uint32_t i) {
    if (reading[i].next == reading[i].end) return;
    const Ring& ring = *rings_[i];
    const WallTime when = ring.records[reading[i].next & (ring.records.size() - 1)].when;
    if (when >= certain) return;  // another record of that very moment may still come
    heap.emplace_back(when, i);
    std::push_heap(heap.begin(), heap.end(), later);
  };
  for (std::uint32_t i = 0; i < rings_.size(); ++i) offer(i);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    const std::uint32_t i = heap.back().second;
    heap.pop_back();
    Ring& ring = *rings_[i];
    const Record record = ring.records[reading[i].next++ & (ring.records.size() - 1)];
    take(i, record, sample);
    offer(i);
  }
  for (std::size_t i = 0; i < rings_.size(); ++i) {
    rings_[i]->tail.store(reading[i].next, std::memory_order_release);
  }
}

void DriftLedger::take(std::uint32_t who, const Record& record, const std::function<void(SimSpan)>& sample) {
  const SimTime before = at_[who];
  at_[who] = record.progress;
  merged_[who] = record.when;
  ++records_;
  // Only the last of the slowest moving on, or the fastest leaving, asks for a look at all the others.
  const bool left = record.progress == SimTime::never();
  if (!left) most_ = std::max(most_, record.progress);
  const bool last_of_the_slowest = before == least_ && record.progress != least_ && --at_least_ == 0;
  const bool came_back = before == SimTime::never() && !left;
  if (last_of_the_slowest || came_back || (left && before == most_)) find_extremes();
  if (least_ == SimTime::never()) return;  // all have left
  const SimSpan delta = most_ - least_;
  max_ = std::max(max_, delta);
  series_.add(least_, delta);
  if (sample) sample(delta);
}

void DriftLedger::find_extremes() {
  least_ = SimTime::never();
  most_ = SimTime::before_all();
  for (const SimTime t : at_) {
    if (t == SimTime::never()) continue;
    least_ = std::min(least_, t);
    most_ = std::max(most_, t);
  }
  at_least_ = static_cast<std::size_t>(std::count(at_.begin(), at_.end(), least_));
}

std::uint64_t DriftLedger::missed() const {
  std::uint64_t sum = 0;
  for (const auto& ring : rings_) sum += ring->missed.load(std::memory_order_relaxed);
  return sum;
}

SimTime DriftLedger::newest(ParticipantId who) const {
  return SimTime::from_ns(rings_[who.index()]->newest.load(std::memory_order_relaxed));
}

}  // namespace isochron
