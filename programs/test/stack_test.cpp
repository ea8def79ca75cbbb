// Whole stacks: scripts, children, pipes and sockets of programs that nobody wrote for us, on simulated time.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "programs/test/stack_support.hpp"

namespace isochron::programs {
namespace {

TEST(Stack, AScriptSleepsInSimulatedTime) {
  const auto before = std::chrono::steady_clock::now();
  const StackRun run = run_shell("date +%s; sleep 20; date +%s", model);
  EXPECT_EQ(run.output, "0\n20\n") << run.faults;
  EXPECT_LT(std::chrono::steady_clock::now() - before, seconds(10));
}

TEST(Stack, ChildrenInTheBackgroundAreWaitedFor) {
  const StackRun run = run_shell("(sleep 2; echo two) & (sleep 1; echo one) & wait; echo all", model);
  EXPECT_EQ(run.output, "one\ntwo\nall\n") << run.faults;
}

TEST(Stack, PipesPassBytesBetweenProcesses) {
  const StackRun run = run_shell("seq 1 20000 | sort -rn | head -1; echo $(echo inner | tr a-z A-Z)", model);
  EXPECT_EQ(run.output, "20000\nINNER\n") << run.faults;
}

TEST(Stack, ATimeoutEndsAProgram) {
  const StackRun run = run_shell("timeout 2 sleep 100; echo $? $(date +%s)", model);
  EXPECT_EQ(run.output, "124 2\n") << run.faults;
}

TEST(Stack, ExitCodesAndSignalsReachTheParent) {
  const StackRun run =
      run_shell("false; echo $?; sleep 100 & kill -TERM $!; wait $!; echo $?; (exit 7); echo $?", model);
  EXPECT_EQ(run.output, "1\n143\n7\n") << run.faults;
}

TEST(Stack, ProcessNumbersAndNamesAreTheSameInEveryRun) {
  const auto script = "echo $$ $BASHPID; (echo $BASHPID); hostname; head -c 4 /dev/urandom | od -An -tx1";
  const StackRun one = run_shell(script, model), two = run_shell(script, model);
  EXPECT_EQ(one.output, two.output);
  EXPECT_EQ(one.digest, two.digest);
  EXPECT_NE(one.output.find("robot"), std::string::npos) << one.output << one.faults;
}

TEST(Stack, MeasuredChildrenAreCharged) {
  const StackRun run =
      run_shell("(i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done); date +%s%N", MeasuredCompute{});
  EXPECT_EQ(run.output.substr(0, 5), "done\n") << run.faults;
  ASSERT_GT(run.outcome.programs.size(), 1u);
  SimSpan children;
  for (std::size_t i = 1; i < run.outcome.programs.size(); ++i) children += run.outcome.programs[i].executed;
  EXPECT_GT(children, SimSpan(milliseconds(5)));
}

constexpr const char* udp_server = R"(
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("0.0.0.0", 5000))
for i in range(20):
    data, peer = s.recvfrom(100)
    s.sendto(data.upper(), peer)
)";
constexpr const char* udp_client = R"(
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
time.sleep(1)
for i in range(20):
    t = time.time(); s.sendto(b"ping%d" % i, ("SERVER", 5000)); data, peer = s.recvfrom(100)
    if i in (0, 19): print(data.decode(), round((time.time() - t) * 1e6), peer[0], flush=True)
)";

TEST(Stack, DatagramsBetweenRobotsTakeTheNetworksTime) {
  std::string client = udp_client;
  client.replace(client.find("SERVER"), 6, "server");
  NetworkSpec network;
  network.name = "lan";
  network.latency = milliseconds(20);
  network.hosts = {{"server", 0x0a000001}, {"client", 0x0a000002}};
  const auto once = [&] {
    return run_stacks(
        {RobotSpec{"server", 1, {}, {stack("echo", {"/usr/bin/python3", "-c", udp_server}, ZeroCompute{})}},
         RobotSpec{"client", 1, {}, {stack("ping", {"/usr/bin/python3", "-c", client}, ZeroCompute{})}}},
        seconds(10), {network});
  };
  const StackRun run = once();
  EXPECT_EQ(run.output, "PING0 40000 10.0.0.1\nPING19 40000 10.0.0.1\n") << run.faults << run.outcome.why_ended;
  EXPECT_EQ(run.digest, once().digest);
}

constexpr const char* tcp_both = R"(
import os, socket, select, threading
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
if os.fork() == 0:
    c = socket.create_connection(s.getsockname())
    c.sendall(b"x" * 1000000); c.shutdown(socket.SHUT_WR)
    print("child got", c.recv(100).decode(), flush=True)
    os._exit(3)
p, peer = s.accept()
n = 0
while True:
    r, w, e = select.select([p], [], [], 5)
    data = p.recv(65536)
    if not data: break
    n += len(data)
p.sendall(b"%d" % n)
p.close()
print(os.waitstatus_to_exitcode(os.wait()[1]), n)
)";

TEST(Stack, AStreamIsWholeAndHalfClosed) {
  const StackRun run = run_stacks(
      {RobotSpec{"robot", 1, {}, {stack("both", {"/usr/bin/python3", "-c", tcp_both}, model)}}}, seconds(30));
  EXPECT_EQ(run.output, "child got 1000000\n3 1000000\n") << run.faults << run.outcome.why_ended;
}

TEST(Stack, PythonRunsSubprocessesAndPools) {
  constexpr const char* text = R"(
import subprocess, multiprocessing, time
print(subprocess.run(["date", "+%s"], capture_output=True, text=True).stdout.strip())
def square(x): time.sleep(1); return x * x
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool: print(pool.map(square, range(4), chunksize=1))
    print(round(time.time()))
)";
  const StackRun run = run_stacks(
      {RobotSpec{"robot", 1, {}, {stack("py", {"/usr/bin/python3", "-c", text}, ZeroCompute{})}}}, seconds(30));
  EXPECT_EQ(run.output, "0\n[0, 1, 4, 9]\n2\n") << run.faults << run.outcome.why_ended;
}

TEST(Stack, AStaticProgramIsRefusedByName) {
  const StackRun run = run_shell(std::string(STATIC_PROGRAM) + " || echo refused", model);
  EXPECT_NE(run.output.find("refused"), std::string::npos) << run.output;
  EXPECT_NE(run.faults.find("statically linked"), std::string::npos) << run.faults;
}

}  // namespace
}  // namespace isochron::programs
