/* A barrier each heartbeat by MPI allgather, as co-simulation frameworks do it: every process gives the states of its
   agents to all others. Prints heartbeats per second. For `isochron bench agents`. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { state_bytes = 170 }; /* what one agent's state takes in our datagrams */

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 1, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int agents = argc > 1 ? atoi(argv[1]) : 1000;
  const int mine = agents / size * state_bytes;
  char* own = malloc((size_t)mine);
  char* all = malloc((size_t)mine * (size_t)size);
  memset(own, rank, (size_t)mine);
  double start = 0;
  long beats = 0;
  int go = 1;
  for (long beat = 0; go; ++beat) {
    if (beat == 20) start = MPI_Wtime();
    MPI_Allgather(own, mine, MPI_CHAR, all, mine, MPI_CHAR, MPI_COMM_WORLD);
    if (beat % 20 == 19 && beat > 20) { /* the first decides for all when it is over */
      go = MPI_Wtime() - start < 2.0;
      MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    beats = beat - 19;
  }
  if (rank == 0) printf("%f\n", (double)beats / (MPI_Wtime() - start));
  MPI_Finalize();
  return 0;
}
