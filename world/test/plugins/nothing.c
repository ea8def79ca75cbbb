/* A library without an engine. */
int nothing_of_interest(void) { return 0; }
