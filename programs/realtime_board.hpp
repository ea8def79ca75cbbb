#pragma once
// The run's side of a program's board (protocol/program_board.hpp): hangs up what the program has named, brings it up
// to date after each step, and takes the program's notes.
//
// Promises: what hangs there is what an answer at the same time would have said.
// Threads:  the run's own. Cost: show() allocates; refresh() and collect() do not after the first rounds.
// Fails:    what does not fit on the board is asked for, as in every other mode. Notes that are nonsense are dropped
//           with all that follow them in that link, and said once.

#include <span>
#include <vector>

#include "core/plant.hpp"
#include "core/time.hpp"
#include "protocol/program_protocol.hpp"

namespace isochron {

/// What a program did at its board.
struct Noted {
  SimTime at;
  std::uint32_t program = 0;
  bool write = false;
  std::uint32_t variable = 0;
  std::size_t begin = 0, size = 0;  // of its value, in Notebook::bytes
};

/// What all programs did since the last time, by time.
struct Notebook {
  std::vector<Noted> notes;
  std::vector<std::byte> bytes;

  void clear() {
    notes.clear();
    bytes.clear();
  }
  void sort();
  [[nodiscard]] std::span<const std::byte> value(const Noted& note) const {
    return std::span(bytes).subspan(note.begin, note.size);
  }
};

class RealtimeBoard {
 public:
  RealtimeBoard(protocol::Pages& pages, Plant& plant, std::uint32_t program)
      : pages_(pages), board_(pages.board), plant_(plant), program_(program) {}

  /// From now on the program need not ask. `patience`: how often it looks for an answer where it must.
  void open(std::uint32_t patience);
  void close() { board_.open.store(0, std::memory_order_release); }
  /// Hangs up a variable, if it can hang there; once is enough.
  void show(std::uint32_t variable, SimTime at);
  void refresh(SimTime at);
  /// Takes the notes; their times are brought into [from, to]. False: some were nonsense.
  bool collect(SimTime from, SimTime to, Notebook& into);

 private:
  struct Shown {
    std::uint32_t variable = 0;
    bool readable = false;
    std::size_t begin = 0, size = 0;
  };
  bool collect(protocol::Notes& notes, SimTime from, SimTime to, Notebook& into);

  protocol::Pages& pages_;
  protocol::Board& board_;
  Plant& plant_;
  std::uint32_t program_;
  std::vector<Shown> shown_;
  std::vector<std::byte> value_;
  std::size_t words_used_ = 0;
};

}  // namespace isochron
