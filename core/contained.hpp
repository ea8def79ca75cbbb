#pragma once
// The floor under everything that works for pages, clients and peers: what is thrown there, because of a message that
// nobody had thought of, ends with that message and not with the run. It is told in the log, once for each place, and
// counted; a run's report says how often it happened, because each is a bug in Isochron.
//
//     thread_ = std::thread([this] { contained_until_done("the page's sockets", [this] { io_->run(); }); });
//
// Threads: any.

#include <cstdint>
#include <exception>

namespace isochron {

void tell_contained(const char* where, const char* what) noexcept;
/// How often anything was contained in this process.
[[nodiscard]] std::uint64_t contained_count() noexcept;

/// True: it came through.
template <class Work>
bool contained(const char* where, Work&& work) noexcept {
  try {
    work();
    return true;
  } catch (const std::exception& error) {
    tell_contained(where, error.what());
  } catch (...) {
    tell_contained(where, "something that is no exception");
  }
  return false;
}

/// Again and again until it returns by itself.
template <class Work>
void contained_until_done(const char* where, Work&& work) noexcept {
  while (!contained(where, work)) {
  }
}

}  // namespace isochron
