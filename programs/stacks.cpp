#include "programs/stacks.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <utility>

#include "core/ensure.hpp"

namespace isochron::programs {

namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

constexpr std::uint32_t most_at_once = 16;

constexpr std::uint64_t bit(int signal) { return std::uint64_t{1} << (signal - 1); }

}  // namespace

void Stacks::open(const std::vector<RobotSpec>& robots) {
  std::vector<std::string> names;
  bool any = false;
  for (const RobotSpec& robot : robots) {
    names.push_back(robot.name);
    for (const ProgramSpec& program : robot.programs) any = any || program.stack;
  }
  if (!any) return;
  rlimit files{};  // every process takes a few
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  system_ = std::make_unique<System>(static_cast<System::House&>(*this), all_.options.networks, names,
                                     all_.options.seed, all_.options.outside);
  for (const auto& m : all_.members) {
    if (m->spec.stack) system_->add(m->number, m->robot);
  }
}

void Stacks::call(std::uint32_t program, const Pending& pending, SimTime at) {
  Member& m = *all_.members[program];
  if (!system_ || !system_->has(program)) {
    protocol::Call refused = pending.call;
    refused.result = -ENOSYS;
    all_.timeline->resume(program);
    execution_.begin(program, at);
    return m.channel->answer_call(pending.link, at, refused, {});
  }
  const auto payload = m.channel->call_payload(pending.link, pending.call);
  const auto later = system_->act(program, pending.link, at, pending.call, payload);
  if (!later) {
    all_.timeline->resume(program);
    execution_.begin(program, at);
    let_others_run(m, pending);
    return answer(program, pending.link, at);
  }
  all_.timeline->suspend(program, pending.link, later->until, true, pending.others_run, true);
  m.channel->suspended(pending.link);
  if (!pending.others_run) return;
  execution_.begin(program, all_.timeline->program_time(program));
  if (pending.exchange.index == 1) m.channel->pass(pending.link);
}

// Threads that have the baton in turn change where a call waits. One whose calls are always answered at once would keep
// it forever.
void Stacks::let_others_run(Member& m, const Pending& pending) {
  const auto& asked = pending.exchange;
  const bool others = asked.index == 1 && (asked.size > 0 || m.channel->waits_answered() > asked.stamp);
  m.at_once = others ? m.at_once + 1 : 0;
  if (m.at_once < most_at_once) return;
  m.at_once = 0;
  m.channel->suspended(pending.link);
}

void Stacks::wake(std::uint32_t program, std::uint32_t link, SimTime at, bool others_run) {
  if (const auto later = system_->wake(program, link, at)) {
    all_.timeline->suspend(program, link, later->until, true, others_run, true);
    return;
  }
  answer(program, link, at);
}

void Stacks::answer(std::uint32_t program, std::uint32_t link, SimTime at) {
  Member& m = *all_.members[program];
  execution_.favour(m, link);
  const System::Answer& answer = system_->answer(program, link);
  hand_signals(m, link);
  m.channel->answer_call(link, at, answer.call, answer.payload);
}

void Stacks::attached(std::uint32_t program, SimTime at) {
  if (!system_ || !system_->has(program)) return;
  const Channel& channel = *all_.members[program]->channel;
  system_->executes(program, at, [&](int descriptor) { return channel.has_descriptor(descriptor); });
}

void Stacks::ended(std::uint32_t program, SimTime at) {
  if (system_) system_->ended(program, at);
}

void Stacks::look_again(std::uint32_t program, std::uint32_t link, SimTime at) {
  if (all_.timeline->receiving(program, link)) all_.timeline->message(program, link, at);
}

std::int64_t Stacks::prepare_child(std::uint32_t program, std::uint32_t number, SimTime at) {
  Member& m = *all_.members[program];
  if (all_.boards != nullptr) {
    all_.desk.fault(program, at, "starts a process, which a program beside boards cannot do yet");
    return -EAGAIN;
  }
  m.child_memory = std::make_unique<SharedMemory>("isochron-program", sizeof(protocol::Pages));
  auto& pages = *static_cast<protocol::Pages*>(m.child_memory->data());
  Process::inherit_pages(m.process->pages(), pages, RandomStream(m.spec.seed, m.name + ":" + std::to_string(number)));
  pages.process = number;
  return m.child_memory->descriptor();
}

ProgramSpec Stacks::spec_of_child(const Member& parent, const Member& root, const std::string& name, SimTime at) {
  ProgramSpec spec = parent.spec;
  spec.on_failure = OnFailure::go_on;
  if (const auto* recorded = std::get_if<RecordedCompute>(&root.spec.compute)) {
    std::shared_ptr<const ComputeTape> tape = recorded->of_child ? recorded->of_child(name) : nullptr;
    if (tape == nullptr) {
      all_.desk.fault(parent.number, at, "starts process " + name + ", which its record does not have");
      tape = std::make_shared<ComputeTape>();
    }
    spec.compute = RecordedCompute{tape, {}};
  }
  return spec;
}

std::optional<std::uint32_t> Stacks::adopt_child(std::uint32_t program, std::int64_t process, SimTime at) {
  Member& parent = *all_.members[program];
  std::unique_ptr<SharedMemory> memory = std::exchange(parent.child_memory, nullptr);
  if (process <= 0 || !memory) return std::nullopt;
  Member& root = parent.root != nullptr ? *parent.root : parent;
  const std::string name = root.name + ":" + std::to_string(++root.born + 1);
  const ProgramSpec spec = spec_of_child(parent, root, name, at);
  // One number at the desk and on the timeline, where correspondents have none.
  while (all_.timeline->programs() < all_.desk.parties()) all_.timeline->skip_number();
  const std::uint32_t number =
      all_.timeline->enter({parent.cpu, spec.best_effort ? INT32_MIN : spec.priority, parent.cost.measured(), 1,
                            parent.number < all_.executables ? parent.number : root.number});
  const std::uint32_t party = all_.desk.add({name, parent.robot, spec.terms(), spec.to, parent.cpu});
  ENSURE(party == number, "a process has two numbers");
  Member& child = all_.members.add(std::make_unique<Member>(spec, parent.robot, name), number);
  child.root = &root;
  child.cpu = parent.cpu;
  child.cores = parent.cores;
  child.robot_cores = parent.robot_cores;
  child.lane = parent.lane;
  child.start_up = Member::StartUp::over;
  child.process = std::make_unique<Process>(static_cast<pid_t>(process), std::move(memory));
  child.channel = std::make_unique<Channel>(child.process->pages());
  child.watched = all_.watcher->add({name, -1, child.process->pid_descriptor()});
  if (child.cost.measured() && all_.lanes) {
    child.seat = all_.lanes->admit(child.lane, child.cores, *child.process, *child.channel);
  }
  if (all_.recorder != nullptr) all_.recorder->joined(number, name, spec.cpu_speed);
  if (child.cost.recorded()) tapes_.start(number);
  execution_.begin(number, at);
  return number;
}

System::House::Taken Stacks::takes(std::uint32_t program, int signal) {
  const Member& m = *all_.members[program];
  if (signal == SIGKILL || signal == SIGSTOP) return Taken::dies;
  if ((m.channel->signals_ignored() & bit(signal)) != 0) return Taken::ignores;
  if ((m.channel->signals_handled() & bit(signal)) != 0) return Taken::handles;
  const bool nothing = signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH || signal == SIGCONT;
  return nothing ? Taken::ignores : Taken::dies;
}

void Stacks::send_signal(std::uint32_t program, int signal, std::uint32_t link) {
  all_.members[program]->signals[link] |= bit(signal);
}

void Stacks::kill_process(std::uint32_t program, int signal) { ::kill(all_.members[program]->process->pid(), signal); }

void Stacks::hand_signals(Member& m, std::uint32_t link) {
  for (const std::uint32_t whose : {link, System::any_link}) {
    if (const auto found = m.signals.extract(whose)) m.channel->send_signals(link, found.mapped());
  }
}

void Stacks::print(std::uint32_t program, std::span<const std::byte> text, SimTime at) {
  Member& m = *all_.members[program];
  Member& root = m.root != nullptr ? *m.root : m;
  all_.watcher->add_output(root.watched, text_of(text));
  teller_.output(root.number, std::string(text_of(text)), at);
}

}  // namespace isochron::programs
