#pragma once
// The board on which one writer shows the latest state, as numbers, to any number of readers who never see half of it
// and never make the writer wait.
//
//     slots   [ 4 ][ 5 ][ 6 ][ 3 ]      each with the number of the state in it, 0 while it is written
//                        ▲
//                   latest_ = 6         the writer goes on to the slot of 3
//
// The argument: the writer marks a slot 0, fills it, marks it with the new number, then moves latest_. A reader takes
// latest_, checks that the slot carries that number, copies, and checks again. The numbers never repeat, so two equal
// checks say that no write began in between (the fences keep the copy between the checks), and the copy is whole. A
// check fails only when the writer came round all slots during one copy; then a newer state is there to be read.
//
// Promises: read() gives the numbers of one write(), never older than one that this thread read before.
// Threads:  one writer, any readers.
// Cost:     no lock, no allocation after construction. write() never waits; read() copies again when it was lapped.

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>

namespace isochron::world {

class StateBoard {
 public:
  explicit StateBoard(std::size_t numbers) : numbers_(numbers) {
    for (Slot& slot : slots_) slot.words = std::make_unique<Word[]>(numbers);
  }

  void write(std::span<const double> state) {
    const std::uint64_t number = written_ + 1;
    Slot& slot = slots_[number % slot_count];
    slot.number.store(0, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 0; i < numbers_; ++i) {
      slot.words[i].store(std::bit_cast<std::uint64_t>(state[i]), std::memory_order_relaxed);
    }
    slot.number.store(number, std::memory_order_release);
    latest_.store(number, std::memory_order_release);
    written_ = number;
  }

  /// Requires: something was written.
  void read(std::span<double> into) const {
    while (!try_read(into)) std::this_thread::yield();
  }

  [[nodiscard]] std::size_t numbers() const { return numbers_; }
  /// How many states were shown so far.
  [[nodiscard]] std::uint64_t count() const { return latest_.load(std::memory_order_acquire); }

 private:
  using Word = std::atomic<std::uint64_t>;
  struct Slot {
    alignas(64) std::atomic<std::uint64_t> number{0};
    std::unique_ptr<Word[]> words;
  };
  static constexpr std::size_t slot_count = 4;

  bool try_read(std::span<double> into) const {
    const std::uint64_t number = latest_.load(std::memory_order_acquire);
    const Slot& slot = slots_[number % slot_count];
    if (number == 0 || slot.number.load(std::memory_order_acquire) != number) return false;
    for (std::size_t i = 0; i < numbers_; ++i) {
      into[i] = std::bit_cast<double>(slot.words[i].load(std::memory_order_relaxed));
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    return slot.number.load(std::memory_order_relaxed) == number;
  }

  std::size_t numbers_;
  Slot slots_[slot_count];
  alignas(64) std::atomic<std::uint64_t> latest_{0};
  std::uint64_t written_ = 0;  // the writer's own
};

}  // namespace isochron::world
