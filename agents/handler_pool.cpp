#include "agents/handler_pool.hpp"

#include <algorithm>
#include <cstring>

#include "core/contained.hpp"

namespace isochron::agents {

HandlerPool::HandlerPool(unsigned threads, const HandlerLimits& limits, std::function<void()> on_results)
    : on_results_(std::move(on_results)) {
  for (unsigned i = 0; i < threads; ++i) workers_.push_back(std::make_unique<Worker>(limits));
  for (const auto& worker : workers_) worker->thread = std::thread([this, &w = *worker] { work(w); });
}

HandlerPool::~HandlerPool() {
  stop_.store(true);
  for (const auto& worker : workers_) {
    worker->news.fetch_add(1);
    worker->news.notify_one();
    worker->thread.join();
  }
}

HandlerPool::Worker& HandlerPool::worker_of(Connection connection) const {
  return *workers_[(connection >> 8) % workers_.size()];
}

void HandlerPool::add(Connection connection, const std::array<std::byte, 16>& key, std::size_t longest) {
  Worker& worker = worker_of(connection);
  const std::lock_guard lock(worker.mutex);
  worker.handler.add(connection, key, longest);
}

void HandlerPool::remove(Connection connection) {
  Worker& worker = worker_of(connection);
  const std::lock_guard lock(worker.mutex);
  worker.handler.remove(connection);
}

void HandlerPool::hand_out(std::span<const Datagram> datagrams, WallTime now) {
  for (const Datagram& datagram : datagrams) {
    Worker& worker = worker_of(connection_of(datagram.bytes));
    Packet* packet = worker.packets.next();
    if (packet == nullptr) {
      full_.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    packet->from = datagram.address;
    packet->now = now;
    packet->size = std::min(datagram.bytes.size(), packet->bytes.size());
    std::memcpy(packet->bytes.data(), datagram.bytes.data(), packet->size);
  }
  for (const auto& worker : workers_) {
    worker->packets.commit();
    worker->news.fetch_add(1, std::memory_order_release);
    worker->news.notify_one();
  }
}

void HandlerPool::handle(Worker& worker, const Packet& packet) {
  const bool kept = results_.write([&](Result& result) {
    const auto passed = worker.handler.take(std::span(packet.bytes).first(packet.size), packet.now, result.up);
    result.connection = passed ? passed->connection : 0;
    result.newest = passed && passed->newest;
    result.from = packet.from;
  });
  if (!kept) full_.fetch_add(1, std::memory_order_relaxed);
}

void HandlerPool::work(Worker& worker) {
  std::uint32_t seen = 0;
  while (!stop_.load()) {
    worker.news.wait(seen, std::memory_order_acquire);
    seen = worker.news.load(std::memory_order_acquire);
    bool any = false;
    {
      const std::lock_guard lock(worker.mutex);
      while (const Packet* packet = worker.packets.take()) {
        contained("a datagram of an agent", [&] { handle(worker, *packet); });
        worker.packets.flush();
        any = true;
      }
    }
    if (any && !told_.exchange(true, std::memory_order_acq_rel)) on_results_();
  }
}

Counts HandlerPool::counts() const {
  Counts all;
  for (const auto& worker : workers_) {
    const std::lock_guard lock(worker->mutex);
    all.add(worker->handler.counts());
  }
  all.dropped[static_cast<std::size_t>(Drop::flood)] += full_.load();
  return all;
}

}  // namespace isochron::agents
