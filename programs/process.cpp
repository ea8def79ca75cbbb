#include "programs/process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <algorithm>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/ensure.hpp"
#include "core/input_error.hpp"
#include "core/random.hpp"
#include "programs/process_stat.hpp"
#include "programs/program_input.hpp"

extern char** environ;

namespace isochron::programs {

namespace {

constexpr rlim_t rt_allowance_us = 5'000'000;

/// Everything that a forked child needs, prepared before: after fork it only makes system calls.
struct Prepared {
  std::vector<std::string> texts;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  std::string folder;
  int pages = -1;
  int bell = -1;
  int input = -1;
  int output = -1;
  int report = -1;
  protocol::Pages* shared = nullptr;
  pid_t parent = 0;
  bool same_addresses = false;
};

bool overridden(const char* entry, const ProgramSpec& spec) {
  const std::string_view text(entry);
  const auto is = [&](std::string_view name) {
    return text.size() > name.size() && text.substr(0, name.size()) == name && text[name.size()] == '=';
  };
  if (is(protocol::environment) || is(protocol::run_environment) || is(protocol::descriptors_environment)) return true;
  if (is("ISOCHRON_KEY") || is("ISOCHRON_KEY_FILE")) return true;  // it talks to nobody but us
  if (spec.virtual_clock && is("LD_PRELOAD")) return true;
  for (const auto& [name, value] : spec.environment) {
    if (is(name)) return true;
  }
  return false;
}

Prepared prepare(const Process::Start& start, const SharedMemory& memory, int output, int report) {
  const int pages = memory.descriptor();
  const ProgramSpec& spec = *start.spec;
  Prepared p;
  const std::size_t arguments = spec.run.size();
  p.texts = spec.run;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!overridden(*entry, spec)) p.texts.emplace_back(*entry);
  }
  p.texts.push_back(std::string(protocol::environment) + "=shm:" + std::to_string(pages) + "," +
                    std::to_string(start.bell));
  p.texts.push_back(std::string(protocol::run_environment) + "=" + start.run_token);
  p.texts.push_back(std::string(protocol::descriptors_environment) + "=/proc/" + std::to_string(getpid()) + "/fd");
  if (spec.virtual_clock) p.texts.push_back("LD_PRELOAD=" + start.interpose_library);
  for (const auto& [name, value] : spec.environment) p.texts.push_back(name + "=" + value);
  for (std::size_t i = 0; i < p.texts.size(); ++i) {
    (i < arguments ? p.arguments : p.environment).push_back(p.texts[i].data());
  }
  p.arguments.push_back(nullptr);
  p.environment.push_back(nullptr);
  p.folder = spec.folder;
  p.pages = pages;
  p.bell = start.bell;
  p.output = output;
  p.report = report;
  p.shared = static_cast<protocol::Pages*>(memory.data());
  p.parent = getpid();
  p.same_addresses = spec.virtual_clock;  // what a program sorts by address it sorts the same in every run
  return p;
}

void limit(__rlimit_resource resource, rlim_t value) {
  const rlimit both{value, value};
  setrlimit(resource, &both);
}

/// Only the soft limit: it can be raised again without privileges, where the hard one needs CAP_SYS_RESOURCE, which
/// even root lacks in many containers. SIGXCPU ends who runs beyond it.
void limit_real_time(pid_t pid, rlim_t us) {
  rlimit now{};
  if (prlimit(pid, RLIMIT_RTTIME, nullptr, &now) != 0) return;
  now.rlim_cur = std::min(us, now.rlim_max);
  prlimit(pid, RLIMIT_RTTIME, &now, nullptr);
}

[[noreturn]] void become(const Prepared& p) {
  setpgid(0, 0);
  p.shared->owner.store(static_cast<std::uint32_t>(getpid()));
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != p.parent) _exit(127);  // we died before that was in force
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  dup2(p.input, 0);
  dup2(p.output, 1);
  dup2(p.output, 2);
  fcntl(p.pages, F_SETFD, 0);
  fcntl(p.bell, F_SETFD, 0);
  limit(RLIMIT_CORE, 0);
  if (p.same_addresses) personality(ADDR_NO_RANDOMIZE);
  limit_real_time(getpid(), rt_allowance_us);
  int error = 0;
  if (!p.folder.empty() && chdir(p.folder.c_str()) != 0) error = errno;
  if (error == 0) {
    execvpe(p.arguments[0], p.arguments.data(), p.environment.data());
    error = errno;
  }
  [[maybe_unused]] const ssize_t told = write(p.report, &error, sizeof error);
  _exit(127);
}

std::string describe(const siginfo_t& info) {
  if (info.si_code == CLD_EXITED) return "exited with " + std::to_string(info.si_status);
  const char* name = sigabbrev_np(info.si_status);
  return std::string("killed by SIG") + (name == nullptr ? std::to_string(info.si_status) : name) + " (" +
         strsignal(info.si_status) + ")";
}

}  // namespace

SharedMemory::SharedMemory(const char* name, std::size_t size) : size_(size) {
  descriptor_ = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ENSURE(descriptor_ >= 0 && ftruncate(descriptor_, static_cast<off_t>(size)) == 0,
         "no memory to share with a program");
  // A program that shrinks the file would crash us: sealed.
  fcntl(descriptor_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  data_ = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  ENSURE(data_ != MAP_FAILED, "no memory to share with a program");
}

SharedMemory::~SharedMemory() {
  munmap(data_, size_);
  close(descriptor_);
}

Process::Process(const Start& start)
    : memory_(std::make_unique<SharedMemory>("isochron-program", sizeof(protocol::Pages))) {
  set_up_pages(start);
  pages().cores = start.cores;
  this->start(start);
}

// All that a program reads when it is loaded is there before it is started.
void Process::set_up_pages(const Start& start) {
  // The file is all zeros, which is what every counter starts with; constructing 17 MB would only touch its pages.
  protocol::Pages& p = pages();
  p.magic_number = protocol::magic;
  p.version_number = protocol::version;
  p.size = sizeof(protocol::Pages);
  p.clock.mode.store(static_cast<std::uint32_t>(start.clock_mode), std::memory_order_relaxed);
  p.clock.epoch = start.epoch.unix_ns;
  p.seed = RandomStream(start.spec->seed, start.full_name).bits();
  p.clock.rate = static_cast<std::uint64_t>(start.rate.factor().value() * 4294967296.0);
  if (start.number == 0) return;
  p.stack = 1;
  p.process = start.number;
  p.clock.counter_use = start.spec->counter == CounterUse::simulated ? protocol::CounterUse::simulated
                        : start.spec->counter == CounterUse::refused ? protocol::CounterUse::refused
                                                                     : protocol::CounterUse::host;
  std::copy_n(start.host.begin(), std::min(start.host.size(), sizeof p.host - 1), p.host);
  for (const int output : {1, 2}) p.descriptors[output].store(protocol::Descriptor::output);
}

void Process::start(const Start& start) {
  const std::string& name = start.full_name;
  if (start.spec->run.empty()) throw InputError({}, name + ": nothing to run", "give `run: [program, arguments…]`");
  const link::Fd input = open_input(start.spec->input, name, pages());
  int output[2];
  int report[2];
  ENSURE(pipe2(output, O_CLOEXEC) == 0 && pipe2(report, O_CLOEXEC) == 0, "no descriptors left");
  fcntl(output[0], F_SETPIPE_SZ, 1 << 20);
  fcntl(output[0], F_SETFL, O_NONBLOCK);
  Prepared prepared = prepare(start, *memory_, output[1], report[1]);
  prepared.input = input.get();
  pid_ = fork();
  if (pid_ == 0) become(prepared);
  close(output[1]);
  close(report[1]);
  output_ = output[0];
  int error = pid_ < 0 ? errno : 0;
  if (pid_ > 0 && read(report[0], &error, sizeof error) <= 0) error = 0;
  close(report[0]);
  if (error != 0) {
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
    reaped_ = true;
    pid_ = -1;
    close(output_);
    output_ = -1;
    throw InputError({}, name + ": cannot run " + start.spec->run[0] + ": " + std::strerror(error),
                     error == ENOENT ? "is it built, and on the PATH or given with its folder?" : "");
  }
  look_at_process();
}

Process::Process(pid_t process, std::unique_ptr<SharedMemory> memory)
    : memory_(std::move(memory)), adopted_(true), pid_(process) {
  look_at_process();
}

void Process::inherit_pages(const protocol::Pages& from, protocol::Pages& to, RandomStream chance) {
  to.magic_number = protocol::magic;
  to.version_number = protocol::version;
  to.size = sizeof(protocol::Pages);
  to.clock.mode.store(from.clock.mode.load(std::memory_order_relaxed), std::memory_order_relaxed);
  to.clock.epoch = from.clock.epoch;
  to.clock.rate = from.clock.rate;
  to.clock.counter_use = from.clock.counter_use;
  to.clock.base.store(from.clock.base.load(std::memory_order_relaxed), std::memory_order_relaxed);
  to.seed = chance.bits();
  to.cores = from.cores;
  to.stack = from.stack;
  to.patience.store(from.patience.load(std::memory_order_relaxed), std::memory_order_relaxed);
  std::copy(std::begin(from.host), std::end(from.host), to.host);
}

void Process::look_at_process() {
  pid_descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
  clock_getcpuclockid(pid_, &clock_);
  task_folder_ = open(("/proc/" + std::to_string(pid_) + "/task").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  memory_file_ = open(("/proc/" + std::to_string(pid_) + "/statm").c_str(), O_RDONLY | O_CLOEXEC);
  rt_limit_ = CpuTime::from_ns(std::int64_t{rt_allowance_us} * 1000);
}

Process::~Process() {
  if (pid_ > 0 && !reaped_) {
    kill_group(SIGKILL);
    if (!adopted_) waitpid(pid_, nullptr, 0);
  }
  for (const int descriptor : {output_, pid_descriptor_, task_folder_, memory_file_}) {
    if (descriptor >= 0) close(descriptor);
  }
}

CpuTime Process::cpu_time() const {
  timespec t{};
  if (clock_gettime(clock_, &t) != 0) return CpuTime::zero();
  return CpuTime::from_ns(std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec);
}

std::vector<pid_t> Process::threads() const {
  std::vector<pid_t> found;
  DIR* folder = opendir(("/proc/" + std::to_string(pid_) + "/task").c_str());
  if (folder == nullptr) return found;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] != '.') found.push_back(static_cast<pid_t>(std::atoi(entry->d_name)));
  }
  closedir(folder);
  return found;
}

std::size_t Process::thread_count() const {
  struct stat status {};
  if (fstat(task_folder_, &status) != 0 || status.st_nlink < 3) return 1;
  return status.st_nlink - 2;
}

bool Process::runnable() const {
  for (const pid_t thread : threads()) {
    const auto stat = stat_of(std::to_string(pid_) + "/task/" + std::to_string(thread));
    if (stat && (stat->state == 'R' || stat->state == 'D')) return true;
  }
  return false;
}

bool Process::exiting() const {
  const auto stat = stat_of(pid_);
  return !stat || stat->exiting || stat->state == 'Z';
}

bool Process::has_children() const {
  for (const pid_t thread : threads()) {
    const std::string path = "/proc/" + std::to_string(pid_) + "/task/" + std::to_string(thread) + "/children";
    const link::Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char first = 0;
    if (file.open() && read(file.get(), &first, 1) == 1) return true;
  }
  return false;
}

std::uint64_t Process::resident() const {
  static const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  char text[128] = {};
  if (pread(memory_file_, text, sizeof text - 1, 0) <= 0) return 0;
  char* second = nullptr;
  std::strtoull(text, &second, 10);  // the whole address space
  return std::strtoull(second, nullptr, 10) * page;
}

void Process::end_because(std::string why) {
  why_ended_ = std::move(why);
  kill_group(SIGKILL);
}

bool Process::ended() {
  if (reaped_) return true;
  if (adopted_) {  // its parent waits for it; that it is over is all that we know
    pollfd over{pid_descriptor_, POLLIN, 0};
    if (pid_descriptor_ >= 0 && poll(&over, 1, 0) == 0) return false;
    how_ = why_ended_.empty() ? "ended" : why_ended_;
    return reaped_ = true;
  }
  siginfo_t info{};
  const auto id = static_cast<id_t>(pid_);
  if (waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return false;
  if (const auto stat = stat_of(pid_)) children_cpu_ = stat->by_children;  // while it can still be looked at
  waitid(P_PID, id, &info, WEXITED);
  reaped_ = true;
  how_ = why_ended_.empty() ? describe(info) : why_ended_;
  failed_ = info.si_code != CLD_EXITED || info.si_status != 0;
  return true;
}

void Process::renew(CpuTime executed) {
  const CpuSpan allowance = CpuSpan::from_ns(std::int64_t{rt_allowance_us} * 1000);
  if (executed + allowance / 2 < rt_limit_) return;
  rt_limit_ = executed + allowance;
  limit_real_time(pid_, static_cast<rlim_t>(rt_limit_.ns() / 1000));
}

void Process::kill_group(int signal) const {
  if (pid_ <= 0) return;
  kill(-pid_, signal);
  if (!reaped_) kill(pid_, signal);
}

}  // namespace isochron::programs
