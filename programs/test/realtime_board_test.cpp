// The board between a run and a program: both ends in one process, over memory like theirs.

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "client/direct.hpp"
#include "programs/realtime_board.hpp"

namespace isochron {
namespace {

using protocol::Ask;

SimTime ms(std::int64_t n) { return SimTime::zero() + SimSpan::from_ns(n * 1'000'000); }

/// Three numbers that are always equal, one that can be written, and one that holds for a while only.
class Numbers final : public Plant {
 public:
  Numbers() {
    for (const char* name : {"r/a", "r/b", "r/c"}) variables_.push_back({name, "float64", 8, true, false});
    variables_.push_back({"r/push", "float64[2]", 16, true, true, false, true});
    variables_.push_back({"r/brief", "float64", 8, true, false});
    variables_.push_back({"r/picture", "picture", 1000, true, false, true});
  }
  [[nodiscard]] const std::vector<Variable>& variables() const override { return variables_; }
  [[nodiscard]] SimTime time() const override { return SimTime::zero(); }
  Result<Done, std::string> advance_to(SimTime) override { return done(); }
  void read(std::uint32_t, SimTime, std::span<std::byte> to) override {
    for (std::size_t i = 0; i < to.size(); i += 8) std::memcpy(to.data() + i, &value, 8);
  }
  [[nodiscard]] SimTime holds_until(std::uint32_t variable, SimTime) const override {
    return variable == 4 ? until : SimTime::never();
  }
  [[nodiscard]] Result<Done, std::string> check(std::uint32_t, std::span<const std::byte>) const override {
    return done();
  }
  void write(std::uint32_t, SimTime, std::span<const std::byte>) override {}

  double value = 1;
  SimTime until = SimTime::never();

 private:
  std::vector<Variable> variables_;
};

class RealtimeBoardTest : public ::testing::Test {
 protected:
  RealtimeBoardTest() {
    pages.links_used.store(1);
    pages.clock.base.store(ms(5).ns());  // it stands
    for (std::uint32_t i = 0; i < plant.variables().size(); ++i) board.show(i, ms(0));
    board.open(0);
  }
  ~RealtimeBoardTest() override { munmap(&pages, sizeof pages); }

  bool read(std::uint32_t variable, double& into) {
    protocol::Exchange exchange;
    exchange.ask = static_cast<std::uint32_t>(Ask::read);
    exchange.index = variable;
    return client::do_directly(pages, pages.links[0], exchange, {nullptr, 0, &into, sizeof into});
  }
  bool read_all(std::initializer_list<std::uint32_t> variables, std::span<std::byte> answer) {
    protocol::ItemList list;
    for (const std::uint32_t variable : variables) list.add(variable);
    protocol::Exchange exchange;
    exchange.ask = static_cast<std::uint32_t>(Ask::read);
    exchange.index = protocol::several;
    const auto out = list.bytes();
    return client::do_directly(pages, pages.links[0], exchange, {out.data(), out.size(), answer.data(), answer.size()});
  }
  bool write(std::uint32_t variable, std::initializer_list<double> values) {
    protocol::Exchange exchange;
    exchange.ask = static_cast<std::uint32_t>(Ask::write);
    exchange.index = variable;
    return client::do_directly(pages, pages.links[0], exchange, {values.begin(), values.size() * 8, nullptr, 0});
  }
  Notebook notes(SimTime from = ms(0), SimTime to = ms(10)) {
    Notebook found;
    sound = board.collect(from, to, found);
    return found;
  }

  // As a program's: all zeros.
  protocol::Pages& pages = *static_cast<protocol::Pages*>(mmap(nullptr, sizeof(protocol::Pages), PROT_READ | PROT_WRITE,
                                                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  Numbers plant;
  RealtimeBoard board{pages, plant, 7};
  bool sound = true;
};

TEST_F(RealtimeBoardTest, AReadNeedsNobodyAndIsNoted) {
  double value = 0;
  ASSERT_TRUE(read(0, value));
  EXPECT_EQ(value, 1);
  plant.value = 2;
  board.refresh(ms(1));
  ASSERT_TRUE(read(2, value));
  EXPECT_EQ(value, 2);
  const Notebook found = notes();
  ASSERT_EQ(found.notes.size(), 2U);
  EXPECT_EQ(found.notes[1].variable, 2U);
  EXPECT_EQ(found.notes[1].program, 7U);
  EXPECT_EQ(found.notes[1].at, ms(5));
  EXPECT_FALSE(found.notes[1].write);
  EXPECT_EQ(std::memcmp(found.value(found.notes[1]).data(), &value, 8), 0);
  EXPECT_TRUE(notes().notes.empty()) << "each is taken once";
}

TEST_F(RealtimeBoardTest, AWriteIsTakenAsItWasMade) {
  ASSERT_TRUE(write(3, {3, 4}));
  const Notebook found = notes();
  ASSERT_EQ(found.notes.size(), 1U);
  EXPECT_TRUE(found.notes[0].write);
  const double both[] = {3, 4};
  EXPECT_EQ(std::memcmp(found.value(found.notes[0]).data(), both, sizeof both), 0);
}

TEST_F(RealtimeBoardTest, WhatIsNotForTheBoardIsAsked) {
  double value = 0;
  EXPECT_FALSE(read(5, value)) << "a picture";
  EXPECT_FALSE(read(99, value)) << "no variable at all";
  EXPECT_FALSE(write(0, {1})) << "cannot be written";
  EXPECT_FALSE(write(3, {1})) << "has another size";
  EXPECT_FALSE(write(3, {1, std::numeric_limits<double>::quiet_NaN()})) << "must be refused in words";
  plant.until = ms(5);
  board.refresh(ms(1));
  EXPECT_FALSE(read(4, value)) << "its time is over";
  plant.until = ms(6);
  board.refresh(ms(1));
  EXPECT_TRUE(read(4, value));
  board.close();
  EXPECT_FALSE(read(0, value));
}

TEST_F(RealtimeBoardTest, FullNotesAreAskedForAndGoOnAfterwards) {
  double value = 0;
  int done = 0;
  while (read(0, value)) ASSERT_LT(++done, 10'000);
  EXPECT_GT(done, 500);
  EXPECT_EQ(notes().notes.size(), static_cast<std::size_t>(done));
  for (int i = 0; i < 20'000; ++i) {  // around the ring
    ASSERT_TRUE(read(0, value));
    ASSERT_EQ(notes().notes.size(), 1U);
  }
}

TEST_F(RealtimeBoardTest, TimesOfNotesStayBetweenWhatWasRecordedAndNow) {
  ASSERT_TRUE(write(3, {1, 2}));
  EXPECT_EQ(notes(ms(0), ms(2)).notes[0].at, ms(2));
  ASSERT_TRUE(write(3, {1, 2}));
  EXPECT_EQ(notes(ms(8), ms(9)).notes[0].at, ms(8));
}

TEST_F(RealtimeBoardTest, NonsenseIsDroppedAndSaid) {
  protocol::Notes& notes_of_link = pages.notes[0];
  for (std::uint64_t seed = 1; seed < 2000; ++seed) {
    std::uint64_t state = seed * 0x9e3779b97f4a7c15;
    for (std::uint64_t& word : notes_of_link.words) word = state = state * 6364136223846793005 + seed % 7;
    notes_of_link.head.store(static_cast<std::uint32_t>(state >> 32) % (seed % 2 == 0 ? 8000 : UINT32_MAX));
    for (const Noted& note : notes().notes) ASSERT_LT(note.variable, plant.variables().size()) << "seed " << seed;
    ASSERT_EQ(notes_of_link.tail.load(), notes_of_link.head.load()) << "seed " << seed;
  }
  std::memset(notes_of_link.words, 0, sizeof notes_of_link.words);
  notes_of_link.head.store(notes_of_link.tail.load() + 1);
  (void)notes();
  EXPECT_FALSE(sound);
}

TEST_F(RealtimeBoardTest, SeveralValuesAreOfOneTurn) {
  std::atomic<bool> end{false};
  std::thread run([&] {
    while (!end.load()) {
      plant.value += 1;
      board.refresh(ms(1));
    }
  });
  int whole = 0;
  for (int i = 0; i < 20'000 || (whole == 0 && i < 10'000'000); ++i) {
    std::array<std::byte, 3 * (8 + protocol::item_head)> answer;
    if (!read_all({0, 1, 2}, answer)) {
      pages.notes[0].tail.store(pages.notes[0].head.load());
      std::this_thread::yield();  // on one core the other may be in the middle of a turn
      continue;
    }
    ++whole;
    double values[3] = {};
    int n = 0;
    protocol::for_each_item(protocol::several, answer,
                            [&](std::uint32_t, auto bytes) { std::memcpy(&values[n++], bytes.data(), 8); });
    ASSERT_EQ(n, 3);
    ASSERT_EQ(values[0], values[1]);
    ASSERT_EQ(values[1], values[2]);
  }
  end.store(true);
  run.join();
  EXPECT_GT(whole, 0);
}

TEST(Items, WhatIsCutOffIsFound) {
  std::array<std::byte, 64> room{};
  protocol::ItemWriter writer(room);
  ASSERT_TRUE(writer.add(1, 8));
  ASSERT_TRUE(writer.add(2, 16));
  writer.cut(3);
  EXPECT_FALSE(writer.add(3, 64));
  const auto whole = std::span<const std::byte>(room).first(writer.size());
  std::size_t found = 0;
  EXPECT_TRUE(
      protocol::for_each_item(protocol::several, whole, [&](std::uint32_t, auto value) { found += value.size(); }));
  EXPECT_EQ(found, 11U);
  for (std::size_t cut = 1; cut < whole.size(); ++cut) {
    const bool between = cut == 16;  // the end of the first value
    EXPECT_EQ(protocol::for_each_item(protocol::several, whole.first(cut), [](std::uint32_t, auto) {}), between) << cut;
  }
  protocol::ItemList list;
  for (std::uint32_t i = 0; i < protocol::items_max; ++i) ASSERT_TRUE(list.add(i));
  EXPECT_FALSE(list.add(0));
  EXPECT_EQ(protocol::ItemList::read(list.bytes())->indexes().size(), protocol::items_max);
  EXPECT_FALSE(protocol::ItemList::read(list.bytes().first(40)));
}

}  // namespace
}  // namespace isochron
