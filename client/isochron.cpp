#include "client/isochron.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "client/transport.hpp"

using isochron::client::Payload;
using isochron::client::Transport;
using isochron::protocol::Ask;
using isochron::protocol::Exchange;
using isochron::protocol::Verdict;

namespace {

struct Bound {
  std::uint32_t index = 0;
  std::size_t size = 0;
  std::string type;
};

thread_local std::string last_error;

int failed(int status, std::string why) {
  last_error = std::move(why);
  return status;
}

bool put(char (&field)[isochron::protocol::name_max], const char* text) {
  const std::size_t length = text == nullptr ? 0 : std::strlen(text);
  if (length >= sizeof field) return false;
  if (length > 0) std::memcpy(field, text, length);
  field[length] = 0;
  return true;
}

int too_many(std::size_t count) {
  return failed(ISOCHRON_TOO_LARGE, "one request may have " + std::to_string(isochron::protocol::items_max) +
                                        " variables; this one has " + std::to_string(count));
}

int status_of(std::uint32_t verdict) {
  switch (static_cast<Verdict>(verdict)) {
    case Verdict::ok:
      return ISOCHRON_OK;
    case Verdict::nothing:
      return ISOCHRON_NOTHING;
    case Verdict::ended:
      return ISOCHRON_ENDED;
    case Verdict::unknown_name:
      return ISOCHRON_UNKNOWN_NAME;
    case Verdict::wrong_type:
      return ISOCHRON_WRONG_TYPE;
    case Verdict::too_large:
      return ISOCHRON_TOO_LARGE;
    case Verdict::wrong_version:
      return ISOCHRON_WRONG_VERSION;
    case Verdict::refused:
      break;
  }
  return ISOCHRON_REFUSED;
}

}  // namespace

struct isochron_robot {
  std::unique_ptr<Transport> transport;
  std::mutex mutex;  // guards bound
  std::map<std::string, Bound, std::less<>> bound;

  int ask(Exchange& exchange, Ask what, const Payload& payload = {}) {
    exchange.ask = static_cast<std::uint32_t>(what);
    std::string why;
    if (!transport->ask(exchange, payload, why)) return failed(ISOCHRON_NOT_ATTACHED, why);
    const int status = status_of(exchange.verdict);
    return status < 0 ? failed(status, why) : status;
  }

  /// The coordinator checks name, type and size once; later calls only carry the number that it gave.
  int bind(const char* name, const char* type, Bound& result) {
    if (name == nullptr) return failed(ISOCHRON_UNKNOWN_NAME, "a variable has no name");
    {
      const std::lock_guard lock(mutex);
      const auto found = bound.find(std::string_view(name));
      if (found != bound.end() && (type == nullptr || found->second.type == type)) {
        result = found->second;
        return ISOCHRON_OK;
      }
    }
    Exchange exchange;
    if (!put(exchange.name, name) || !put(exchange.type, type))
      return failed(ISOCHRON_UNKNOWN_NAME, "a name is too long");
    const int status = ask(exchange, Ask::bind);
    if (status != ISOCHRON_OK) return status;
    exchange.type[sizeof exchange.type - 1] = 0;
    if (exchange.number < 0 || exchange.number > static_cast<std::int64_t>(isochron::protocol::payload_max)) {
      return failed(ISOCHRON_REFUSED, std::string(name) + ": the host sent an impossible size");
    }
    result = {exchange.index, static_cast<std::size_t>(exchange.number), exchange.type};
    const std::lock_guard lock(mutex);
    bound[name] = result;
    return ISOCHRON_OK;
  }

  int bind_sized(const char* name, const char* type, std::size_t size, Bound& result) {
    const int status = bind(name, type, result);
    if (status != ISOCHRON_OK || result.size == size) return status;
    return failed(ISOCHRON_WRONG_TYPE, std::string(name) + " is " + result.type + " of " + std::to_string(result.size) +
                                           " bytes, not of " + std::to_string(size));
  }

  int bind_with_room(const char* name, const char* type, std::size_t room, Bound& result) {
    const int status = bind(name, type, result);
    if (status != ISOCHRON_OK || result.size <= room) return status;
    return failed(ISOCHRON_TOO_LARGE, std::string(name) + " has up to " + std::to_string(result.size) +
                                          " bytes; there is room for " + std::to_string(room));
  }
};

extern "C" {

int isochron_attach(isochron_robot** robot) {
  static std::mutex mutex;
  static isochron_robot* attached = nullptr;  // as long as the process: threads may still be in it at exit
  const std::lock_guard lock(mutex);
  if (attached == nullptr) {
    const char* address = std::getenv(isochron::protocol::environment);
    if (address == nullptr) {
      return failed(ISOCHRON_NOT_ATTACHED,
                    "ISOCHRON is not set: start this program from a scenario, with isochron run");
    }
    std::string why;
    auto fresh = std::make_unique<isochron_robot>();
    fresh->transport = isochron::client::open_transport(address, why);
    if (!fresh->transport) return failed(ISOCHRON_NOT_ATTACHED, std::string("ISOCHRON=") + address + ": " + why);
    Exchange exchange;
    exchange.number = isochron::protocol::version;
    const int status = fresh->ask(exchange, Ask::attach);
    if (status < 0) return status;
    attached = fresh.release();
  }
  *robot = attached;
  return ISOCHRON_OK;
}

int isochron_wait(isochron_robot* robot, int64_t period_ns, int64_t* now) {
  Exchange exchange;
  exchange.number = period_ns;
  const int status = robot->ask(exchange, Ask::wait);
  if (now != nullptr) *now = exchange.time;
  return status;
}

int isochron_wait_until(isochron_robot* robot, int64_t until_ns, int64_t* now) {
  Exchange exchange;
  exchange.time = until_ns;
  exchange.number = -1;
  const int status = robot->ask(exchange, Ask::wait);
  if (now != nullptr) *now = exchange.time;
  return status;
}

int isochron_read(isochron_robot* robot, const char* name, const char* type, void* data, size_t size) {
  Bound bound;
  const int status = robot->bind_sized(name, type, size, bound);
  if (status != ISOCHRON_OK) return status;
  Exchange exchange;
  exchange.index = bound.index;
  return robot->ask(exchange, Ask::read, {nullptr, 0, data, size});
}

int isochron_read_message(isochron_robot* robot, const char* name, const char* type, void* data, size_t capacity,
                          size_t* size, int64_t* taken) {
  Bound bound;
  int status = robot->bind_with_room(name, type, capacity, bound);
  if (status != ISOCHRON_OK) return status;
  Exchange exchange;
  exchange.index = bound.index;
  status = robot->ask(exchange, Ask::read, {nullptr, 0, data, capacity});
  if (size != nullptr) *size = exchange.size;
  if (taken != nullptr) *taken = exchange.stamp;
  return status;
}

int isochron_write(isochron_robot* robot, const char* name, const char* type, const void* data, size_t size) {
  Bound bound;
  const int status = robot->bind_sized(name, type, size, bound);
  if (status != ISOCHRON_OK) return status;
  Exchange exchange;
  exchange.index = bound.index;
  return robot->ask(exchange, Ask::write, {data, size, nullptr, 0});
}

int isochron_read_all(isochron_robot* robot, isochron_item* items, size_t count, int64_t* time) {
  isochron::protocol::ItemList list;
  std::size_t room = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Bound bound;
    const int status = robot->bind_with_room(items[i].name, items[i].type, items[i].size, bound);
    if (status != ISOCHRON_OK) return status;
    if (!list.add(bound.index)) return too_many(count);
    room += isochron::protocol::item_head + bound.size;
  }
  thread_local std::vector<std::byte> answer;
  if (answer.size() < room) answer.resize(room);
  Exchange exchange;
  exchange.index = isochron::protocol::several;
  const int status = robot->ask(exchange, Ask::read, {list.bytes().data(), list.bytes().size(), answer.data(), room});
  if (status < 0) return status;
  const std::span<const std::byte> came(answer.data(), std::min<std::size_t>(exchange.size, room));
  isochron::protocol::ItemReader values(came);
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = values.next();
    const std::size_t size = value ? std::min(value->bytes.size(), items[i].size) : 0;
    if (size > 0) std::memcpy(items[i].data, value->bytes.data(), size);
    items[i].size = size;
  }
  if (time != nullptr) *time = exchange.time;
  return status;
}

int isochron_write_all(isochron_robot* robot, const isochron_item* items, size_t count) {
  thread_local std::vector<std::byte> values;
  std::size_t room = 0;
  for (std::size_t i = 0; i < count; ++i) room += isochron::protocol::item_head + items[i].size;
  if (room > isochron::protocol::payload_max) {
    return failed(ISOCHRON_TOO_LARGE, "one request may have " + std::to_string(isochron::protocol::payload_max) +
                                          " bytes; this one has " + std::to_string(room));
  }
  if (count > isochron::protocol::items_max) return too_many(count);
  if (values.size() < room) values.resize(room);
  isochron::protocol::ItemWriter writer({values.data(), room});
  for (std::size_t i = 0; i < count; ++i) {
    Bound bound;
    const int status = robot->bind_sized(items[i].name, items[i].type, items[i].size, bound);
    if (status != ISOCHRON_OK) return status;
    const auto place = writer.add(bound.index, items[i].size);
    if (items[i].size > 0) std::memcpy(place->data(), items[i].data, items[i].size);
  }
  Exchange exchange;
  exchange.index = isochron::protocol::several;
  return robot->ask(exchange, Ask::write, {values.data(), writer.size(), nullptr, 0});
}

int isochron_describe(isochron_robot* robot, const char* name, char* type, size_t capacity, size_t* size) {
  Bound bound;
  const int status = robot->bind(name, nullptr, bound);
  if (status != ISOCHRON_OK) return status;
  if (bound.type.size() >= capacity) return failed(ISOCHRON_TOO_LARGE, "no room for the type's name");
  std::memcpy(type, bound.type.c_str(), bound.type.size() + 1);
  *size = bound.size;
  return ISOCHRON_OK;
}

int isochron_send(isochron_robot* robot, const char* to, const char* type, const void* data, size_t size) {
  if (size > isochron::protocol::payload_max) {
    return failed(ISOCHRON_TOO_LARGE, "a message may have " + std::to_string(isochron::protocol::payload_max) +
                                          " bytes; this one has " + std::to_string(size));
  }
  Exchange exchange;
  if (!put(exchange.name, to) || !put(exchange.type, type)) return failed(ISOCHRON_UNKNOWN_NAME, "a name is too long");
  return robot->ask(exchange, Ask::send, {data, size, nullptr, 0});
}

int isochron_receive(isochron_robot* robot, const char* from, const char* type, void* data, size_t capacity,
                     size_t* size, int64_t until_ns, int64_t* sent) {
  Exchange exchange;
  exchange.time = until_ns;
  exchange.number = static_cast<std::int64_t>(capacity);
  if (!put(exchange.name, from) || !put(exchange.type, type))
    return failed(ISOCHRON_UNKNOWN_NAME, "a name is too long");
  const int status = robot->ask(exchange, Ask::receive, {nullptr, 0, data, capacity});
  if (status == ISOCHRON_OK) {
    if (size != nullptr) *size = exchange.size;
    if (sent != nullptr) *sent = exchange.stamp;
  }
  return status;
}

int64_t isochron_now(isochron_robot* robot) { return robot->transport->now(); }

int isochron_log(isochron_robot* robot, const char* text) {
  Exchange exchange;
  const std::size_t size = std::min<std::size_t>(std::strlen(text), 4096);
  return robot->ask(exchange, Ask::log, {text, size, nullptr, 0});
}

const char* isochron_error(void) { return last_error.c_str(); }

}  // extern "C"
