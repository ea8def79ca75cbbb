#include "programs/realtime_board.hpp"

#include <algorithm>
#include <cstring>

namespace isochron {

using protocol::Note;
using protocol::words_of;

void Notebook::sort() {
  std::stable_sort(notes.begin(), notes.end(), [](const Noted& a, const Noted& b) { return a.at < b.at; });
}

void RealtimeBoard::open(std::uint32_t patience) {
  board_.patience.store(patience, std::memory_order_relaxed);
  board_.open.store(1, std::memory_order_release);
}

void RealtimeBoard::show(std::uint32_t index, SimTime at) {
  if (index >= protocol::board_variables_max || shown_.size() == protocol::shelves_max) return;
  if (board_.shelf_of[index].load(std::memory_order_relaxed) != 0) return;
  const Variable& variable = plant_.variables()[index];
  const std::size_t words = words_of(variable.size);
  if (variable.varies || words == 0 || words_used_ + words > protocol::board_words) return;
  protocol::Shelf& shelf = board_.shelves[shown_.size()];
  shelf.begin.store(static_cast<std::uint32_t>(words_used_), std::memory_order_relaxed);
  shelf.size.store(static_cast<std::uint32_t>(variable.size), std::memory_order_relaxed);
  shelf.writable.store(variable.writable && variable.any_finite ? 1 : 0, std::memory_order_relaxed);
  shelf.until.store(SimTime::before_all().ns(), std::memory_order_relaxed);
  shown_.push_back({index, variable.readable, words_used_, variable.size});
  words_used_ += words;
  refresh(at);
  board_.shelf_of[index].store(static_cast<std::uint16_t>(shown_.size()), std::memory_order_release);
}

void RealtimeBoard::refresh(SimTime at) {
  if (shown_.empty()) return;
  const std::uint32_t turn = board_.turn.load(std::memory_order_relaxed);
  board_.turn.store(turn + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  for (std::size_t i = 0; i < shown_.size(); ++i) {
    const Shown& shown = shown_[i];
    if (!shown.readable) continue;
    value_.assign(words_of(shown.size) * 8, std::byte{});
    plant_.read(shown.variable, at, std::span(value_).first(shown.size));
    for (std::size_t word = 0; word < words_of(shown.size); ++word) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, value_.data() + word * 8, 8);
      board_.words[shown.begin + word].store(bits, std::memory_order_relaxed);
    }
    board_.shelves[i].until.store(plant_.holds_until(shown.variable, at).ns(), std::memory_order_relaxed);
  }
  board_.turn.store(turn + 2, std::memory_order_release);
}

bool RealtimeBoard::collect(SimTime from, SimTime to, Notebook& into) {
  bool sound = true;
  const std::uint32_t links = std::min<std::uint32_t>(pages_.links_used.load(std::memory_order_acquire),
                                                      static_cast<std::uint32_t>(protocol::notes_max));
  for (std::uint32_t link = 0; link < links; ++link) sound = collect(pages_.notes[link], from, to, into) && sound;
  return sound;
}

bool RealtimeBoard::collect(protocol::Notes& notes, SimTime from, SimTime to, Notebook& into) {
  std::uint32_t tail = notes.tail.load(std::memory_order_relaxed);
  const std::uint32_t head = notes.head.load(std::memory_order_acquire);
  bool sound = head - tail <= protocol::notes_words;
  while (sound && tail != head) {
    std::uint64_t words[protocol::note_head_words] = {};
    Note note;
    const std::uint32_t there = head - tail;
    if (there >= protocol::note_head_words) {
      for (std::uint64_t& word : words) word = notes.words[tail++ % protocol::notes_words];
      std::memcpy(&note, words, sizeof note);
    }
    const std::size_t rest = words_of(note.size);
    const auto kind = static_cast<Note::Kind>(note.kind);
    sound = (kind == Note::Kind::read || kind == Note::Kind::write) && rest <= head - tail &&
            note.variable < plant_.variables().size() && note.size == plant_.variables()[note.variable].size;
    if (!sound) break;
    const SimTime at = std::clamp(SimTime::from_ns(note.time), from, to);
    into.notes.push_back({at, program_, kind == Note::Kind::write, note.variable, into.bytes.size(), note.size});
    into.bytes.resize(into.bytes.size() + rest * 8);
    for (std::size_t i = 0; i < rest; ++i) {
      const std::uint64_t word = notes.words[tail++ % protocol::notes_words];
      std::memcpy(into.bytes.data() + into.notes.back().begin + i * 8, &word, 8);
    }
  }
  notes.tail.store(head, std::memory_order_release);
  return sound;
}

}  // namespace isochron
