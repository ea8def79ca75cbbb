// Round trips of 64 B through a ShmPipe between two processes, beside a bare futex ping-pong: one shared word each way,
// the payload copied in and out, FUTEX_WAKE and FUTEX_WAIT for every turn. Spinning is off where they are compared.

#include <array>
#include <atomic>
#include <cstring>

#include "link/bench/parts.hpp"
#include "link/futex.hpp"
#include "link/shm_pipe.hpp"

namespace isochron::bench {
namespace {

using link::ShmPipe;
using Ping = std::array<std::byte, ping_bytes>;

struct Words {
  alignas(64) std::atomic<std::uint32_t> turn;
  alignas(64) Ping payload;
};

void await(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
  for (std::uint32_t seen = word.load(); seen != value; seen = word.load()) {
    link::futex_wait(word, seen, WallSpan::max());
  }
}

double bare(int partners_core) {
  auto memory = link::SharedMemory::anonymous(4096);
  ENSURE(memory.ok(), "there is shared memory");
  auto* words = new (memory->bytes().data()) Words{};
  pin_to_core(0);
  const auto echo = [&] {
    pin_to_core(partners_core);
    Ping mine{};
    while (true) {
      await(words->turn, 1);
      mine = words->payload;
      words->payload = mine;
      words->turn.store(0);
      link::futex_wake(words->turn);
    }
  };
  return with_partner(echo, [&] {
    Ping ping{};
    return rate([&] {
      words->payload = ping;
      words->turn.store(1);
      link::futex_wake(words->turn);
      await(words->turn, 0);
      ping = words->payload;
    });
  });
}

double through_pipe(int partners_core, WallSpan spin) {
  const link::PipeOptions options{.spin = spin};
  auto pipe = ShmPipe::create(options);
  ENSURE(pipe.ok(), "there is shared memory");
  pin_to_core(0);
  const auto echo = [&] {
    pin_to_core(partners_core);
    auto memory = link::SharedMemory::adopt(link::Fd(::dup(pipe->memory().fd())));
    auto mine = ShmPipe::attach(std::move(*memory), options);
    while (true) {
      const auto frame = mine->receive();
      if (!frame || !mine->send(*frame)) return;
    }
  };
  return with_partner(echo, [&] {
    Ping ping{};
    return rate([&] {
      ENSURE(pipe->send(ping).ok(), "the partner lives");
      const auto frame = pipe->receive();
      ENSURE(frame.ok() && frame->size() == ping.size(), "the partner answers");
      std::memcpy(ping.data(), frame->data(), ping.size());
    });
  });
}

/// Frames per second one way, with publishing in batches of eight.
double one_way(std::size_t bytes) {
  auto pipe = ShmPipe::create();
  ENSURE(pipe.ok(), "there is shared memory");
  pin_to_core(0);
  const auto source = [&] {
    pin_to_core(1);
    auto memory = link::SharedMemory::adopt(link::Fd(::dup(pipe->memory().fd())));
    auto mine = ShmPipe::attach(std::move(*memory));
    while (true) {
      for (int i = 0; i < 8; ++i) {
        auto room = mine->reserve(bytes);
        if (!room) return;
        std::memset(room->data(), i, bytes);
        mine->commit(bytes);
      }
      mine->publish();
    }
  };
  return with_partner(source, [&] { return rate([&] { keep(pipe->receive()->data()); }); });
}

}  // namespace

void bench_shm(Report& report) {
  for (const int core : {1, 0}) {
    const std::string where = core == 0 ? "_same_core" : "_two_cores";
    // Not the best of both: whether the other core happens to be awake decides, and a lucky bare one says nothing.
    const auto [ours, theirs] = side_by_side(
        rounds(report), [&] { return through_pipe(core, WallSpan::zero()); }, [&] { return bare(core); });
    report.ratio_at_least("shm_round_trips_64B" + where, ours, "1/s", "bare futex ping-pong", theirs, 0.6);
  }
  report.found("shm_round_trips_64B_two_cores_spinning", through_pipe(1, std::chrono::microseconds(20)), "1/s");
  report.found("shm_one_way_64B", one_way(64), "1/s");
  report.found("shm_one_way_64KB", one_way(65536) * 65536 / 1e6, "MB/s");
}

}  // namespace isochron::bench
