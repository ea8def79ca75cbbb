// Programs that are stacks: their calls go to the simulated system, and what they start becomes a program of its own on
// the same virtual CPU; see conductor.hpp.

#include <signal.h>
#include <sys/resource.h>

#include <utility>

#include "core/ensure.hpp"
#include "programs/conductor.hpp"

namespace isochron::programs {

namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

constexpr std::uint32_t most_at_once = 16;

constexpr std::uint64_t bit(int signal) { return std::uint64_t{1} << (signal - 1); }

}  // namespace

void Conductor::open_system(const std::vector<RobotSpec>& robots) {
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
  system_ = std::make_unique<System>(static_cast<System::House&>(*this), options_.networks, names, options_.seed);
  for (const auto& m : members_) {
    if (m->spec.stack) system_->add(m->number, m->robot);
  }
}

void Conductor::call(std::uint32_t program, const Pending& pending, SimTime at) {
  Member& m = *members_[program];
  if (!system_ || !system_->has(program)) {
    protocol::Call refused = pending.call;
    refused.result = -ENOSYS;
    timeline_->resume(program);
    begin(program, at);
    return m.channel->answer_call(pending.link, at, refused, {});
  }
  const auto payload = m.channel->call_payload(pending.link, pending.call);
  const auto later = system_->act(program, pending.link, at, pending.call, payload);
  if (!later) {
    timeline_->resume(program);
    begin(program, at);
    let_others_run(m, pending);
    return answer_call(program, pending.link, at);
  }
  timeline_->suspend(program, pending.link, later->until, true, pending.others_run, true);
  m.channel->suspended(pending.link);
  if (!pending.others_run) return;
  begin(program, timeline_->program_time(program));
  if (pending.exchange.index == 1) m.channel->pass(pending.link);
}

// Threads that have the baton in turn change where a call waits. One whose calls are always answered at once would keep
// it forever.
void Conductor::let_others_run(Member& m, const Pending& pending) {
  const auto& asked = pending.exchange;
  const bool others = asked.index == 1 && (asked.size > 0 || m.channel->waits_answered() > asked.stamp);
  m.at_once = others ? m.at_once + 1 : 0;
  if (m.at_once < most_at_once) return;
  m.at_once = 0;
  m.channel->suspended(pending.link);
}

void Conductor::wake_call(std::uint32_t program, std::uint32_t link, SimTime at, bool others_run) {
  if (const auto later = system_->wake(program, link, at)) {
    timeline_->suspend(program, link, later->until, true, others_run, true);
    return;
  }
  answer_call(program, link, at);
}

void Conductor::answer_call(std::uint32_t program, std::uint32_t link, SimTime at) {
  Member& m = *members_[program];
  if (m.seat) lanes_->favour(*m.seat, static_cast<pid_t>(m.channel->owner(link)));
  const System::Answer& answer = system_->answer(program, link);
  hand_signals(m, link);
  m.channel->answer_call(link, at, answer.call, answer.payload);
}

void Conductor::look_again(std::uint32_t program, std::uint32_t link, SimTime at) {
  if (timeline_->receiving(program, link)) timeline_->message(program, link, at);
}

std::int64_t Conductor::prepare_child(std::uint32_t program, std::uint32_t number, SimTime at) {
  Member& m = *members_[program];
  if (boards_ != nullptr) {
    desk_.fault(program, at, "starts a process, which a program beside boards cannot do yet");
    return -EAGAIN;
  }
  m.child_memory = std::make_unique<SharedMemory>("isochron-program", sizeof(protocol::Pages));
  auto& pages = *static_cast<protocol::Pages*>(m.child_memory->data());
  Process::inherit_pages(m.process->pages(), pages, RandomStream(m.spec.seed, m.name + ":" + std::to_string(number)));
  pages.process = number;
  return m.child_memory->descriptor();
}

std::optional<std::uint32_t> Conductor::adopt_child(std::uint32_t program, std::int64_t process, SimTime at) {
  Member& parent = *members_[program];
  std::unique_ptr<SharedMemory> memory = std::exchange(parent.child_memory, nullptr);
  if (process <= 0 || !memory) return std::nullopt;
  Member& root = parent.root != nullptr ? *parent.root : parent;
  ProgramSpec spec = parent.spec;
  spec.on_failure = OnFailure::go_on;
  const std::string name = root.name + ":" + std::to_string(++root.born + 1);
  if (const auto* recorded = std::get_if<RecordedCompute>(&root.spec.compute)) {
    std::shared_ptr<const ComputeTape> tape = recorded->of_child ? recorded->of_child(name) : nullptr;
    if (tape == nullptr) {
      desk_.fault(program, at, "starts process " + name + ", which its record does not have");
      tape = std::make_shared<ComputeTape>();
    }
    spec.compute = RecordedCompute{tape, {}};
  }
  // One number at the desk and on the timeline, where correspondents have none.
  while (timeline_->programs() < desk_.parties()) timeline_->skip_number();
  const std::uint32_t number =
      timeline_->enter({parent.cpu, spec.best_effort ? INT32_MIN : spec.priority, parent.cost.measured(), 1,
                        parent.number < executables_ ? parent.number : root.number});
  const std::uint32_t party = desk_.add({name, parent.robot, spec.terms(), spec.to, parent.cpu});
  ENSURE(party == number, "a process has two numbers");
  Member& child = members_.add(std::make_unique<Member>(spec, parent.robot, name), number);
  child.root = &root;
  child.cpu = parent.cpu;
  child.cores = parent.cores;
  child.robot_cores = parent.robot_cores;
  child.lane = parent.lane;
  child.start_up = Member::StartUp::over;
  child.process = std::make_unique<Process>(static_cast<pid_t>(process), std::move(memory));
  child.channel = std::make_unique<Channel>(child.process->pages());
  child.watched = watcher_->add({name, -1, child.process->pid_descriptor()});
  if (child.cost.measured() && lanes_)
    child.seat = lanes_->admit(child.lane, child.cores, *child.process, *child.channel);
  if (recorder_ != nullptr) recorder_->joined(number, name, spec.cpu_speed);
  if (child.cost.recorded()) {
    for (std::uint32_t link = 0; link < child.cost.clock_links(); ++link) hand_clock_values(child, link);
    follow(number);
    promise(number);
  }
  begin(number, at);
  return number;
}

System::House::Taken Conductor::takes(std::uint32_t program, int signal) {
  const Member& m = *members_[program];
  if (signal == SIGKILL || signal == SIGSTOP) return Taken::dies;
  if ((m.channel->signals_ignored() & bit(signal)) != 0) return Taken::ignores;
  if ((m.channel->signals_handled() & bit(signal)) != 0) return Taken::handles;
  const bool nothing = signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH || signal == SIGCONT;
  return nothing ? Taken::ignores : Taken::dies;
}

void Conductor::send_signal(std::uint32_t program, int signal, std::uint32_t link) {
  members_[program]->signals[link] |= bit(signal);
}

void Conductor::kill_process(std::uint32_t program, int signal) { ::kill(members_[program]->process->pid(), signal); }

/// To be called before the link is answered.
void Conductor::hand_signals(Member& m, std::uint32_t link) {
  for (const std::uint32_t whose : {link, System::any_link}) {
    if (const auto found = m.signals.extract(whose)) m.channel->send_signals(link, found.mapped());
  }
}

void Conductor::print(std::uint32_t program, std::span<const std::byte> text, SimTime at) {
  Member& m = *members_[program];
  Member& root = m.root != nullptr ? *m.root : m;
  watcher_->add_output(root.watched, text_of(text));
  tell_output(root.number, std::string(text_of(text)), at);
}

}  // namespace isochron::programs
