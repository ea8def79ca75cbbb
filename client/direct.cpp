#include "client/direct.hpp"

#include <cmath>
#include <cstring>

#include "client/clock_face.hpp"

namespace isochron::client {
namespace {

using protocol::Board;
using protocol::Note;
using protocol::Shelf;

constexpr int most_tries = 64;  // a turn of the board takes less than a few of them

Shelf* shelf_of(Board& board, std::uint32_t variable) {
  if (variable >= protocol::board_variables_max) return nullptr;
  const std::uint16_t number = board.shelf_of[variable].load(std::memory_order_acquire);
  return number == 0 || number > protocol::shelves_max ? nullptr : &board.shelves[number - 1];
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Notes of one request: they become visible together.
class Notebook {
 public:
  explicit Notebook(protocol::Notes& notes) : notes_(notes), head_(notes.head.load(std::memory_order_relaxed)) {}
  [[nodiscard]] bool room_for(std::size_t words) const {
    return protocol::notes_words - (head_ - notes_.tail.load(std::memory_order_acquire)) >= words;
  }
  void add(Note::Kind kind, std::uint32_t variable, std::int64_t time, std::span<const std::byte> value) {
    const Note note{variable, static_cast<std::uint32_t>(value.size()), static_cast<std::uint32_t>(kind), 0, time};
    std::uint64_t head[protocol::note_head_words];
    std::memcpy(head, &note, sizeof note);
    for (const std::uint64_t word : head) put(word);
    for (std::size_t at = 0; at < value.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, value.data() + at, std::min<std::size_t>(8, value.size() - at));
      put(word);
    }
  }
  void show() { notes_.head.store(head_, std::memory_order_release); }

 private:
  void put(std::uint64_t word) { notes_.words[head_++ % protocol::notes_words] = word; }
  protocol::Notes& notes_;
  std::uint32_t head_;
};

std::size_t note_words(std::size_t bytes) { return protocol::note_head_words + protocol::words_of(bytes); }

void copy_from(const Board& board, const Shelf& shelf, std::span<std::byte> to) {
  const std::uint32_t begin = shelf.begin.load(std::memory_order_relaxed);
  for (std::size_t at = 0; at < to.size(); at += 8) {
    const std::uint64_t word = board.words[(begin + at / 8) % protocol::board_words].load(std::memory_order_relaxed);
    std::memcpy(to.data() + at, &word, std::min<std::size_t>(8, to.size() - at));
  }
}

/// Calls copy() until the board stood still meanwhile; false = it did not, or a value's time is over.
template <class Copy>
bool while_it_stands(const Board& board, Copy&& copy) {
  for (int i = 0; i < most_tries; ++i, pause()) {
    const std::uint32_t turn = board.turn.load(std::memory_order_acquire);
    if ((turn & 1) != 0) continue;
    const bool fresh = copy();
    std::atomic_thread_fence(std::memory_order_acquire);
    if (board.turn.load(std::memory_order_relaxed) == turn) return fresh;
  }
  return false;
}

struct Place {
  std::uint32_t variable;
  Shelf* shelf;
  std::span<std::byte> value;
};

/// Where the values of a read go, in the form of its answer. Bytes of payload; 0 = one of them is not on the board.
std::size_t lay_out(Board& board, const protocol::Exchange& exchange, const Payload& payload,
                    std::array<Place, protocol::items_max>& places, std::size_t& count) {
  const std::span<std::byte> room(static_cast<std::byte*>(payload.in), payload.in_capacity);
  if (exchange.index != protocol::several) {
    Shelf* shelf = shelf_of(board, exchange.index);
    const std::size_t size = shelf == nullptr ? 0 : shelf->size.load(std::memory_order_relaxed);
    if (size == 0 || size > room.size()) return 0;
    places[count++] = {exchange.index, shelf, room.first(size)};
    return size;
  }
  const auto list = protocol::ItemList::read({static_cast<const std::byte*>(payload.out), payload.out_size});
  if (!list) return 0;
  protocol::ItemWriter items(room);
  for (const std::uint32_t variable : list->indexes()) {
    Shelf* shelf = shelf_of(board, variable);
    const auto place =
        shelf == nullptr ? std::nullopt : items.add(variable, shelf->size.load(std::memory_order_relaxed));
    if (!place) return 0;
    places[count++] = {variable, shelf, *place};
  }
  return items.size();
}

bool read_directly(protocol::Pages& pages, protocol::Notes& notes, protocol::Exchange& exchange,
                   const Payload& payload) {
  Board& board = pages.board;
  std::array<Place, protocol::items_max> places;
  std::size_t count = 0;
  const std::size_t size = lay_out(board, exchange, payload, places, count);
  if (size == 0) return false;
  const std::span<const Place> all(places.data(), count);
  std::size_t words = 0;
  for (const Place& place : all) words += note_words(place.value.size());
  Notebook notebook(notes);
  if (!notebook.room_for(words)) return false;
  std::int64_t now = 0;
  const bool there = while_it_stands(board, [&] {
    now = look_at_clock(pages.clock);
    for (const Place& place : all) {
      if (now >= place.shelf->until.load(std::memory_order_relaxed)) return false;
      copy_from(board, *place.shelf, place.value);
    }
    return true;
  });
  if (!there) return false;
  for (const Place& place : all) notebook.add(Note::Kind::read, place.variable, now, place.value);
  notebook.show();
  exchange.time = now;
  exchange.stamp = 0;
  exchange.size = static_cast<std::uint32_t>(size);
  return true;
}

bool may_write(Board& board, std::uint32_t variable, std::span<const std::byte> value) {
  const Shelf* shelf = shelf_of(board, variable);
  if (shelf == nullptr || shelf->writable.load(std::memory_order_relaxed) == 0) return false;
  if (shelf->size.load(std::memory_order_relaxed) != value.size() || value.size() % sizeof(double) != 0) return false;
  for (std::size_t at = 0; at < value.size(); at += sizeof(double)) {
    double number = 0;
    std::memcpy(&number, value.data() + at, sizeof number);
    if (!std::isfinite(number)) return false;
  }
  return true;
}

bool write_directly(protocol::Pages& pages, protocol::Notes& notes, protocol::Exchange& exchange,
                    const Payload& payload) {
  const std::span<const std::byte> out(static_cast<const std::byte*>(payload.out), payload.out_size);
  std::size_t words = 0;
  bool may = true;
  const bool whole = protocol::for_each_item(exchange.index, out, [&](std::uint32_t variable, auto value) {
    may = may && may_write(pages.board, variable, value);
    words += note_words(value.size());
  });
  Notebook notebook(notes);
  if (!whole || !may || !notebook.room_for(words)) return false;
  exchange.time = look_at_clock(pages.clock);
  protocol::for_each_item(exchange.index, out, [&](std::uint32_t variable, auto value) {
    notebook.add(Note::Kind::write, variable, exchange.time, value);
  });
  notebook.show();
  exchange.size = 0;
  return true;
}

}  // namespace

bool do_directly(protocol::Pages& pages, const protocol::Link& link, protocol::Exchange& exchange,
                 const Payload& payload) {
  if (pages.board.open.load(std::memory_order_acquire) == 0) return false;
  const auto number = static_cast<std::size_t>(&link - pages.links);
  if (number >= protocol::notes_max) return false;
  protocol::Notes& notes = pages.notes[number];
  const auto ask = static_cast<protocol::Ask>(exchange.ask);
  const bool done = (ask == protocol::Ask::read && read_directly(pages, notes, exchange, payload)) ||
                    (ask == protocol::Ask::write && write_directly(pages, notes, exchange, payload));
  if (done) exchange.verdict = static_cast<std::uint32_t>(protocol::Verdict::ok);
  return done;
}

}  // namespace isochron::client
