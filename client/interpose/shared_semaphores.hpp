#pragma once
// Semaphores that processes of a stack share, named or in shared memory: the simulated system has them, so that who
// takes one first is decided in simulated time. Its number there lies in the semaphore's own memory, where all find it.

#include <semaphore.h>

#include <cstdint>

namespace isochron::interpose {

bool is_shared(const sem_t* semaphore);
/// Until the limit; 0: only tries.
int take_shared(sem_t* semaphore, std::int64_t limit);
int give_shared(sem_t* semaphore);

}  // namespace isochron::interpose
