#pragma once
// A run that is on disk, answered from its journal through the indexes: the first picture of a large file needs its
// summary and one chunk. Several questions are answered at once, each with a reader of its own.
//
// Threads: any.
// Fails:   open() when the file cannot be read at all or is no journal.

#include <memory>
#include <mutex>
#include <vector>

#include "core/disk.hpp"
#include "journal/mcap_reader.hpp"
#include "view/run_source.hpp"

namespace isochron::view {

class RecordedSource final : public RunSource {
 public:
  static Result<std::unique_ptr<RecordedSource>, std::string> open(Disk& disk, const std::string& file);

  Answer about() override;
  Answer frames(Window window, SimSpan step) override;
  Answer series(const std::string& topic, const std::string& field, Window window, std::size_t points) override;
  Answer latest(const std::string& topic, SimTime at) override;
  Answer schema(const std::string& topic) override;
  Answer fields(const std::string& topic) override;
  Answer events(Window window) override;

 private:
  RecordedSource(Disk& disk, std::string file) : disk_(disk), file_(std::move(file)) {}

  /// A reader for one question, from those that are free or newly opened; it goes back when let go of.
  class Borrowed;
  Result<std::unique_ptr<McapReader>, std::string> borrow();
  void give_back(std::unique_ptr<McapReader> reader);
  template <class Ask>
  Answer ask(Ask&& question);

  Disk& disk_;
  std::string file_;
  std::mutex lock_;
  std::vector<std::unique_ptr<McapReader>> free_;
};

}  // namespace isochron::view
