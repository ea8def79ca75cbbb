#pragma once
// A target that is started on this machine, for want of a board or to compare with one: an ordinary process that is
// told by its environment where the host listens. With a quota it lives in a cgroup that gives it a part of one core
// only: a truly slow target on any machine.
//
// Promises: it ends with this object, and with the host's process if that is killed.
// Threads:  owner thread.
// Fails:    start() says what is missing.

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"

namespace isochron::programs {

struct LocalTargetSpec {
  std::string name;
  std::vector<std::string> run;
  std::vector<std::pair<std::string, std::string>> environment;
  double cpu_quota = 0;  // part of one core; 0 = no limit
};

class LocalTarget {
 public:
  static Result<LocalTarget, std::string> start(const LocalTargetSpec& spec);
  LocalTarget(LocalTarget&& other) noexcept;
  LocalTarget& operator=(LocalTarget&&) = delete;
  ~LocalTarget();

  /// How it ended, once it has: "exited with 0", "was killed by signal 11".
  [[nodiscard]] std::optional<std::string> ended();
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  LocalTarget() = default;
  std::string name_;
  pid_t pid_ = -1;
  std::string group_;  // the cgroup's folder
  std::optional<std::string> how_;
  bool failed_ = false;
};

/// Makes a cgroup that may use `part` of one core. Fails: a sentence.
Result<std::string, std::string> make_cpu_group(double part);

}  // namespace isochron::programs
