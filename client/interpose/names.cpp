// Names and addresses of simulated hosts: a robot is found by its name, and a process finds itself on its robot.

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

#include "client/interpose/system.hpp"

using namespace isochron::interpose;

namespace {

ISOCHRON_ORIGINAL(gethostname)
ISOCHRON_ORIGINAL(uname)
ISOCHRON_ORIGINAL(getaddrinfo)
ISOCHRON_ORIGINAL(gethostbyname)
ISOCHRON_ORIGINAL(getifaddrs)
ISOCHRON_ORIGINAL(freeifaddrs)

/// The address of a host, "" = this one; false: there is none of that name.
bool look_up(const char* name, in_addr& address) {
  Call call = call_of(SystemCall::look_up);
  if (ask_system(call, name, strlen(name)) < 0) return false;
  sockaddr_in found{};
  memcpy(&found, call.address, sizeof found);
  address = found.sin_addr;
  return true;
}

struct Interfaces {
  ifaddrs entries[2];
  sockaddr_in addresses[2], masks[2], broadcast;
  char names[2][8];
};
Interfaces* given = nullptr;

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int gethostname(char* name, size_t size) noexcept {
  if (!in_stack()) return libc_gethostname(name, size);
  snprintf(name, size, "%s", shared_pages()->host);
  return 0;
}

int uname(struct utsname* about) noexcept {
  const int result = libc_uname(about);
  if (result == 0 && in_stack()) snprintf(about->nodename, sizeof about->nodename, "%s", shared_pages()->host);
  return result;
}

int getaddrinfo(const char* __restrict node, const char* __restrict service, const struct addrinfo* __restrict hints,
                struct addrinfo** __restrict found) {
  in_addr numeric{};
  in6_addr numeric6{};
  if (!in_stack() || node == nullptr || inet_pton(AF_INET, node, &numeric) == 1 ||
      inet_pton(AF_INET6, node, &numeric6) == 1) {
    addrinfo plain = hints != nullptr ? *hints : addrinfo{};
    plain.ai_flags &= ~AI_ADDRCONFIG;  // which looks at the interfaces of this machine
    return libc_getaddrinfo(node, service, in_stack() ? &plain : hints, found);
  }
  if (hints != nullptr && (hints->ai_flags & AI_NUMERICHOST) != 0) return EAI_NONAME;
  if (hints != nullptr && hints->ai_family == AF_INET6) return EAI_NONAME;
  if (!look_up(node, numeric)) return EAI_NONAME;
  char text[INET_ADDRSTRLEN];
  inet_ntop(AF_INET, &numeric, text, sizeof text);
  addrinfo plain = hints != nullptr ? *hints : addrinfo{};
  plain.ai_flags &= ~(AI_ADDRCONFIG | AI_CANONNAME);
  plain.ai_family = AF_INET;
  const int result = libc_getaddrinfo(text, service, &plain, found);
  if (result == 0 && hints != nullptr && (hints->ai_flags & AI_CANONNAME) != 0) (*found)->ai_canonname = strdup(node);
  return result;
}

struct hostent* gethostbyname(const char* name) {
  static in_addr address;
  static char* addresses[2];
  static char text[256];
  static char* no_aliases[1];
  static hostent entry;
  if (!in_stack()) return libc_gethostbyname(name);
  if (inet_pton(AF_INET, name, &address) != 1 && !look_up(name, address)) {
    h_errno = HOST_NOT_FOUND;
    return nullptr;
  }
  snprintf(text, sizeof text, "%s", name);
  addresses[0] = reinterpret_cast<char*>(&address);
  entry = {text, no_aliases, AF_INET, sizeof address, addresses};
  return &entry;
}

int gethostbyname_r(const char* name, struct hostent* entry, char* room, size_t size, struct hostent** result,
                    int* error) {
  hostent* found = gethostbyname(name);
  *result = nullptr;
  *error = HOST_NOT_FOUND;
  const std::size_t length = strlen(name) + 1;
  if (found == nullptr) return 0;
  if (size < 3 * sizeof(char*) + sizeof(in_addr) + length) return ERANGE;
  auto** list = reinterpret_cast<char**>(room);
  char* address = room + 3 * sizeof(char*);
  memcpy(address, found->h_addr_list[0], sizeof(in_addr));
  memcpy(address + sizeof(in_addr), name, length);
  list[0] = address;
  list[1] = list[2] = nullptr;
  *entry = {address + sizeof(in_addr), list + 2, AF_INET, sizeof(in_addr), list};
  *result = entry;
  *error = 0;
  return 0;
}

int getifaddrs(struct ifaddrs** list) noexcept {
  if (!in_stack()) return libc_getifaddrs(list);
  auto* all = static_cast<Interfaces*>(calloc(1, sizeof(Interfaces)));
  if (all == nullptr) return returned(-ENOMEM);
  in_addr own{};
  const bool has_network = look_up("", own) && own.s_addr != htonl(INADDR_LOOPBACK);
  for (int i = 0; i < (has_network ? 2 : 1); ++i) {
    snprintf(all->names[i], sizeof all->names[i], "%s", i == 0 ? "lo" : "eth0");
    all->addresses[i].sin_family = all->masks[i].sin_family = AF_INET;
    all->addresses[i].sin_addr = i == 0 ? in_addr{htonl(INADDR_LOOPBACK)} : own;
    all->masks[i].sin_addr.s_addr = htonl(i == 0 ? 0xff000000 : 0xffffff00);
    ifaddrs& entry = all->entries[i];
    entry.ifa_name = all->names[i];
    entry.ifa_addr = reinterpret_cast<sockaddr*>(&all->addresses[i]);
    entry.ifa_netmask = reinterpret_cast<sockaddr*>(&all->masks[i]);
    entry.ifa_flags = IFF_UP | IFF_RUNNING | (i == 0 ? IFF_LOOPBACK : IFF_BROADCAST | IFF_MULTICAST);
    if (i == 1) {
      all->entries[0].ifa_next = &entry;
      all->broadcast = all->addresses[1];
      all->broadcast.sin_addr.s_addr |= htonl(0xff);
      entry.ifa_broadaddr = reinterpret_cast<sockaddr*>(&all->broadcast);
    }
  }
  given = all;
  *list = all->entries;
  return 0;
}

void freeifaddrs(struct ifaddrs* list) noexcept {
  if (given != nullptr && list == given->entries) {
    free(given);
    given = nullptr;
    return;
  }
  libc_freeifaddrs(list);
}

}  // extern "C"
#pragma GCC visibility pop
