#pragma once
// Sockets of the simulated system, behind the functions of sockets.cpp.

#include <sys/socket.h>

#include <cstddef>

namespace isochron::interpose {

int accept_simulated(int socket, sockaddr* from, socklen_t* length, int flags);
ssize_t receive_simulated(int socket, void* data, std::size_t size, int flags, sockaddr* from, socklen_t* length);
ssize_t receive_message(int socket, msghdr& message, int flags);
ssize_t send_simulated(int socket, const void* data, std::size_t size, int flags, const sockaddr* to, socklen_t length);
ssize_t send_message(int socket, const msghdr& message, int flags);
int set_option(int socket, int level, int name, const void* value, socklen_t length);
int get_option(int socket, int name, void* value, socklen_t* length);

}  // namespace isochron::interpose
