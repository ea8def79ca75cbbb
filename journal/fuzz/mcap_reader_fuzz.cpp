// Any bytes as a journal: opened, read in both orders, hashed, compared with itself, recovered. Nothing may crash, hang
// or take more memory than the limits allow; what was recovered must be whole.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "journal/diff.hpp"
#include "journal/recover.hpp"
#include "journal/test/helpers.hpp"

namespace {

using namespace isochron;

constexpr ReaderLimits limits{1U << 20U, 1U << 20U};

/// Says which demand was broken: the stack trace of an optimised build does not.
void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  test::MemoryDisk disk;
  const auto bytes = std::as_bytes(std::span(data, size));
  disk.put("in", {bytes.begin(), bytes.end()});
  auto reader = McapReader::open(disk, "in", limits);
  if (!reader) return 0;
  for (const mcap::AttachmentIndex& index : reader->attachments()) (void)reader->attachment(index);
  MessageCursor cursor = reader->messages();
  SimTime last = SimTime::zero();
  while (const auto message = cursor.next()) {
    demand(message->time >= last, "messages come in the order of time");
    last = message->time;
  }
  (void)digest_of(*reader);
  auto again = McapReader::open(disk, "in", limits);
  demand(!first_difference(*reader, *again), "a journal equals itself");
  if (recover(disk, "in", "out")) {
    auto whole = McapReader::open(disk, "out");
    demand(whole.ok() && whole->ending() == Ending::whole && whole->indexed(), "what was recovered is whole");
  }
  return 0;
}
