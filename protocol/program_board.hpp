#pragma once
// On the wall clock a program need not ask for what everybody may know: the newest values of the variables that it has
// named hang on a board in its own pages, and what it reads and writes there it notes for the record. Nobody is woken.
//
//   program                                        run
//   copies values while `turn` is even and stays   ──  turn odd, new values, turn even: after each step of the world
//   notes: what it read and wrote, and when        ──► takes the notes before each step; what was written acts then
//
// It asks, as in every other mode, where the board is closed, a variable is not on it, a value's time is over, a number
// is not finite (the answer is the sentence), or the notes are full.
//
// The run trusts nothing here: its own values are elsewhere, and notes are copied and checked.
//
// Threads: the board has one writer, the run; each link's notes have one writer, the thread that owns the link.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace isochron::protocol {

inline constexpr std::size_t shelves_max = 512;
inline constexpr std::size_t board_variables_max = 4096;
inline constexpr std::size_t board_words = 8192;
inline constexpr std::size_t notes_words = 4096;
inline constexpr std::size_t notes_max = 32;  // threads that may use the board: the first ones; others ask

/// One variable on the board.
struct Shelf {
  std::atomic<std::uint32_t> begin{0};     // its first word
  std::atomic<std::uint32_t> size{0};      // bytes
  std::atomic<std::uint32_t> writable{0};  // any finite numbers may be written
  std::atomic<std::int64_t> until{0};      // the value holds before this time; then it must be asked for
};

/// What one thread did at the board: head, then the value in whole words.
struct Note {
  enum class Kind : std::uint32_t { read = 1, write = 2 };
  std::uint32_t variable = 0;
  std::uint32_t size = 0;
  std::uint32_t kind = 0;
  std::uint32_t reserved = 0;
  std::int64_t time = 0;
};
inline constexpr std::size_t note_head_words = sizeof(Note) / 8;
static_assert(sizeof(Note) == 24);
[[nodiscard]] constexpr std::size_t words_of(std::size_t bytes) { return (bytes + 7) / 8; }

struct Notes {
  alignas(64) std::atomic<std::uint32_t> head{0};
  alignas(64) std::atomic<std::uint32_t> tail{0};
  std::uint64_t words[notes_words];
};

struct Board {
  alignas(64) std::atomic<std::uint32_t> open{0};
  std::atomic<std::uint32_t> patience{0};  // looks at an answer before sleeping, for requests that are answered at once
  alignas(64) std::atomic<std::uint32_t> turn{0};
  std::atomic<std::uint16_t> shelf_of[board_variables_max];  // by variable: its shelf + 1; 0 = none
  Shelf shelves[shelves_max];
  std::atomic<std::uint64_t> words[board_words];
};

}  // namespace isochron::protocol
