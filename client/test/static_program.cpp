// Linked statically: nothing can be preloaded into it.
#include <unistd.h>

int main() { return usleep(1000); }
