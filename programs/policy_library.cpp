#include "programs/policy_library.hpp"

#include <dlfcn.h>

#include <limits>

#include "core/input_error.hpp"
#include "programs/isochron_policy.h"

namespace isochron::programs {

namespace {

struct Library {
  explicit Library(const std::string& file) : path(file), handle(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) {
      throw InputError({}, "the policy `" + path + "` cannot be loaded: " + dlerror(), "");
    }
    open = find<decltype(&isochron_policy_open)>("isochron_policy_open");
    pick = find<decltype(&isochron_policy_pick)>("isochron_policy_pick");
    close = find<decltype(&isochron_policy_close)>("isochron_policy_close");
  }
  ~Library() { dlclose(handle); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  template <class Function>
  Function find(const char* name) {
    auto found = reinterpret_cast<Function>(dlsym(handle, name));
    if (found == nullptr) {
      dlclose(handle);
      throw InputError({}, "`" + path + "` is no policy: it has no function " + name, "see programs/isochron_policy.h");
    }
    return found;
  }

  std::string path;
  void* handle;
  decltype(&isochron_policy_open) open = nullptr;
  decltype(&isochron_policy_pick) pick = nullptr;
  decltype(&isochron_policy_close) close = nullptr;
};

class OwnPolicy final : public Policy {
 public:
  OwnPolicy(std::shared_ptr<Library> library, void* policy) : library_(std::move(library)), policy_(policy) {}
  ~OwnPolicy() override { library_->close(policy_); }
  OwnPolicy(const OwnPolicy&) = delete;
  OwnPolicy& operator=(const OwnPolicy&) = delete;

  [[nodiscard]] Choice pick(std::span<const Candidate> ready, SimTime now) override {
    candidates_.clear();
    for (const Candidate& c : ready) {
      candidates_.push_back(
          {c.member, c.priority, c.executed.ns(), c.ready_since.ns(), c.queued, static_cast<int32_t>(c.running)});
    }
    int64_t slice = std::numeric_limits<int64_t>::max();
    const std::size_t index = library_->pick(policy_, candidates_.data(), candidates_.size(), now.ns(), &slice);
    // What a policy answers is foreign: the worst it gets is another program than it meant.
    return {index < ready.size() ? index : 0, slice <= 0 ? SimSpan::from_ns(1) : SimSpan::from_ns(slice)};
  }

 private:
  std::shared_ptr<Library> library_;
  void* policy_;
  std::vector<isochron_candidate> candidates_;
};

}  // namespace

MakePolicy policy_of_library(const std::string& library, std::string robot, std::vector<std::string> programs,
                             SimSpan quantum) {
  auto loaded = std::make_shared<Library>(library);
  return [loaded, robot = std::move(robot), programs = std::move(programs), quantum]() -> std::unique_ptr<Policy> {
    std::vector<const char*> names;
    for (const std::string& program : programs) names.push_back(program.c_str());
    const isochron_policy_setup setup{ISOCHRON_POLICY_VERSION, robot.c_str(), names.data(), names.size(), quantum.ns()};
    void* policy = loaded->open(&setup);
    if (policy == nullptr) throw InputError({}, "the policy `" + loaded->path + "` refuses robot " + robot, "");
    return std::make_unique<OwnPolicy>(loaded, policy);
  };
}

}  // namespace isochron::programs
