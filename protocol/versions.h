#ifndef ISOCHRON_VERSIONS_H
#define ISOCHRON_VERSIONS_H
/* What both ends of a conversation must agree on, for those in C as well. */
#define ISOCHRON_PROGRAM_VERSION 6 /* protocol/program_protocol.hpp */
#define ISOCHRON_TARGET_VERSION 1  /* protocol/target_wire.hpp */
#endif
