/* Messages of fixed size between their C struct and CDR bytes, from the text of their type (core/isochron_node.h).
 * Threads: any, one at a time for each type. */
#ifndef ISOCHRON_MESSAGE_H
#define ISOCHRON_MESSAGE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isochron_message_type isochron_message_type;

isochron_message_type* isochron_message_parse(const char* type);
void isochron_message_free(isochron_message_type* type);
/* Of the struct; and of the CDR bytes with their header. Both 0 for messages with strings or lists. */
size_t isochron_message_size(const isochron_message_type* type);
size_t isochron_message_cdr_size(const isochron_message_type* type);
void isochron_message_encode(const isochron_message_type* type, const void* message, void* cdr);
void isochron_message_decode(const isochron_message_type* type, const void* cdr, void* message);

#ifdef __cplusplus
}
#endif
#endif
