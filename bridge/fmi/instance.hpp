#pragma once
// One instance of an FMU, of either version, as a node needs it: values go in, a step is made, values come out.
//
//     instantiated ─ configure, set ─► initialise() ─► set, step, get … ─► terminate()
//
// Promises: a step reaches the time asked for, or throws, unless the FMU ends the simulation. Steps that end early (an
//           event, a discarded step) are gone on with; in FMI 3's event mode events are handled before that.
// Requires: the order above. Text and binary values that get() hands out are valid until the next call.
// Threads:  owner thread; the FMU may log from others.
// Fails:    std::runtime_error with what the FMU said last. After that the instance can only be destroyed; one that
//           reported a fatal error is left alone, as the standard demands.

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bridge/fmi/description.hpp"
#include "bridge/fmi/interface.hpp"
#include "bridge/fmi/solver.hpp"

namespace isochron::fmi {

/// The shared library of an FMU that was unpacked to a folder; loaded once, until the program ends.
class Binary {
 public:
  /// Fails: InputError with what the loader says.
  static const Binary& load(const std::string& folder, const Description& description);
  [[nodiscard]] const v2::Functions& fmi2() const { return fmi2_; }
  [[nodiscard]] const v3::Functions& fmi3() const { return fmi3_; }

 private:
  v2::Functions fmi2_{};
  v3::Functions fmi3_{};
};

/// Variables of one type, that are set or got by one call.
struct Batch {
  Type type = Type::float64;
  std::vector<Reference> references;
  std::size_t count = 0;  // of values; more than references where there are arrays
};

/// A value of variable length, as FMUs hand it over: text with its final zero not counted, or bytes.
struct Bytes {
  const char* data = nullptr;
  std::size_t size = 0;
};

/// What an FMU said.
struct LogLine {
  Status status = status_ok;
  std::string category, text;
};

/// Lines that an FMU logs, until somebody takes them. At most `most` are kept, and how many more there were.
class Log {
 public:
  static constexpr std::size_t most = 1000;
  void add(Status status, const char* category, const char* text);
  [[nodiscard]] std::vector<LogLine> take();
  /// Cheap, to be asked after each call.
  [[nodiscard]] bool empty() const { return !any_.load(std::memory_order_acquire); }
  /// The last lines that are warnings or worse, for a message.
  [[nodiscard]] std::string complaints() const;

 private:
  std::atomic<bool> any_ = false;
  mutable std::mutex mutex_;
  std::vector<LogLine> lines_;
  std::deque<std::string> complaints_;
  std::size_t dropped_ = 0;
};

struct InstanceOptions {
  std::string name;
  std::string folder;  // where the FMU was unpacked to
  bool logging = false;
  Solver::Settings solver;                   // of model exchange
  std::vector<Reference> intermediate = {};  // what is looked at between communication points
};

class Instance {
 public:
  static std::unique_ptr<Instance> make(const Description& description, const InstanceOptions& options, Log& log);
  virtual ~Instance() = default;
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  /// Values of numbers and truth lie one after the other, as in memory (a truth value is one byte). Of text and binary,
  /// `values` points to Bytes.
  virtual void set(const Batch& batch, const void* values) = 0;
  virtual void get(const Batch& batch, void* values) = 0;
  /// Calls `set_lengths`, in which structural parameters are set.
  virtual void configure(const std::function<void()>& set_lengths) = 0;
  virtual void initialise(double start, std::optional<double> tolerance) = 0;
  /// From `from` to `to`, which are `size` apart. Calls `set_inputs` before; `discrete`: some of those inputs may
  /// change only at events.
  struct Stretch {
    double from = 0, to = 0, size = 0;
  };
  enum class Change : std::uint8_t { none, continuous, discrete };
  virtual void step(const Stretch& stretch, const std::function<void()>& set_inputs, Change change) = 0;
  virtual void terminate() = 0;
  /// Inputs that may change only when one of these clocks ticks are set by it, in event mode.
  using SetClocked = std::function<void(std::span<const Reference> ticking)>;
  void on_tick(SetClocked set) { set_clocked_ = std::move(set); }
  /// Called in a step, at times of the FMU's own solver: `get` may be called.
  using Between = std::function<void(double time)>;
  void on_intermediate(Between look) { between_ = std::move(look); }
  /// Whether the FMU asked to end the simulation; it is not stepped any more. Its outputs are those of its last step.
  [[nodiscard]] bool ended() const { return ended_; }

 protected:
  Instance() = default;
  bool ended_ = false;
  SetClocked set_clocked_;
  Between between_;
};

std::unique_ptr<Instance> make_fmi2(const Description& description, const InstanceOptions& options, Log& log);
std::unique_ptr<Instance> make_fmi3(const Description& description, const InstanceOptions& options, Log& log);

/// Throws unless it went well. Notes whether the instance may be called again.
class Verdict {
 public:
  explicit Verdict(const Log& log) : log_(log) {}
  void demand(Status status, const char* function);
  [[noreturn]] void give_up(const std::string& what);
  [[nodiscard]] bool fatal() const { return fatal_; }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  const Log& log_;
  bool failed_ = false, fatal_ = false;
};

/// A step that ends early, again and again at the same time, would never end.
class Advance {
 public:
  explicit Advance(const Instance::Stretch& whole) : whole_(whole), at_(whole.from) {}
  [[nodiscard]] bool arrived() const { return !(at_ < whole_.to); }
  /// What is left. The whole of it has the size that was asked for, without rounding.
  [[nodiscard]] Instance::Stretch left() const {
    return at_ == whole_.from ? whole_ : Instance::Stretch{at_, whole_.to, whole_.to - at_};
  }
  /// False: it does not get on.
  [[nodiscard]] bool reached(double time);

 private:
  Instance::Stretch whole_;
  double at_;
  int standing_ = 0;
};

}  // namespace isochron::fmi
