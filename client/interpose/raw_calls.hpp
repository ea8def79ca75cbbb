#pragma once
// System calls that a program makes without libc, and what it reads past libc: they are caught in the process, and done
// as libc's functions of the same names are done here, so that nobody sees a time that is not simulated.
//
//   syscall instruction   outside of libc: the kernel sends SIGSYS (syscall user dispatch), whose handler makes the call
//   vDSO                  its functions begin with a jump to ours
//   rdtsc, rdtscp         in a stack that asks for it: SIGSEGV (PR_SET_TSC), whose handler answers simulated time
//
// Why user dispatch and not seccomp: a filter stays after exec, where nobody is there yet to handle the signal.
//
// Promises: what libc itself calls costs some 15 ns more, a call that is caught what two signals cost.
// Threads: any of the program. Nothing is caught on processors other than x86-64.

#include <signal.h>
#include <ucontext.h>

#include <cstdint>

#include "protocol/program_protocol.hpp"

namespace isochron::interpose {

/// In the program's first thread, when it has attached; then in each thread, and in a child that goes on taking part.
void begin_to_catch(protocol::CounterUse counter);
void catch_in_thread();
/// Of a thread that ends.
void end_catching();
/// What a thread executes next must be able to read the counter while it is loaded.
void free_counter();
void trap_counter();

/// The call as libc's function of its name does it here: its result, or an errno, negative. `context`: where it was
/// caught; null: it comes through libc's `syscall`.
long mediated_call(long number, const long (&arguments)[6], ucontext_t* context);

/// A futex in the order of threads (locks.cpp), its time limit in simulated time.
long futex_call(const long (&arguments)[6]);

/// Signals that the handlers here need are never blocked, and the program's own actions for them are kept.
bool is_kept(int signal);
int keep_action(int signal, const struct sigaction* action, struct sigaction* old);
void let_through(sigset_t& mask);

/// Tells that the program did something that cannot be followed.
void tell_refused(const char* what);

}  // namespace isochron::interpose
