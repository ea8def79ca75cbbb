#pragma once
// Simulated sockets. What is sent comes to its receiver through the network (network.hpp) at its time, or within a host
// at once.
//
// Threads: owner.

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "programs/system/file.hpp"
#include "programs/system/network.hpp"

namespace isochron::programs {

class StreamSocket;

/// The Unix sockets of a run by their names: all robots see one file system.
using UnixNames = std::map<std::string, Socket*>;

class Socket : public File, public std::enable_shared_from_this<Socket> {
 public:
  struct Where {
    Network* network = nullptr;
    Host* host = nullptr;
    UnixNames* names = nullptr;
  };
  Socket(FileHouse& house, Where where, int family, int type);
  ~Socket() override;

  CallResult bind(const Endpoint& to);
  /// `waits`: who asks waits until it is done; otherwise a connection that was begun is said to be in progress.
  virtual CallResult connect(const Endpoint& to, SimTime now, bool waits) = 0;
  virtual CallResult listen(int /*backlog*/) { return -EOPNOTSUPP; }
  /// The connection that waits first.
  virtual std::shared_ptr<StreamSocket> accept(SimTime /*now*/) { return nullptr; }
  virtual CallResult shutdown(int how, SimTime now) = 0;
  virtual int take_error(SimTime /*now*/) { return std::exchange(error_, 0); }
  CallResult option(int level, int name, std::int64_t value);
  [[nodiscard]] const Endpoint& local() const { return local_; }
  [[nodiscard]] const Endpoint* peer() const { return peer_.family == AF_UNSPEC ? nullptr : &peer_; }
  [[nodiscard]] int family() const { return family_; }
  [[nodiscard]] int type() const { return type_; }
  [[nodiscard]] bool joined(std::uint32_t group) const { return groups_.contains(group); }
  std::string describe() const override;

 protected:
  [[nodiscard]] bool is_unix() const { return family_ == AF_UNIX; }
  /// Gives it a free port; 0 or an errno.
  int bind_freely(std::uint32_t ip);
  /// Bound sockets of a kind at an address of a host.
  [[nodiscard]] std::vector<Socket*> bound_at(Host& host, const Endpoint& to, bool group) const;
  void leave_names();
  [[nodiscard]] SimTime carry(const Host& to, std::size_t bytes, SimTime now) {
    return where_.network->carry(*where_.host, to, bytes, now, true).value_or(now);
  }

  Where where_;
  int family_;
  int type_;
  Endpoint local_, peer_;
  bool bound_ = false;
  bool reuse_ = false, loops_ = true;
  int error_ = 0;
  std::set<std::uint32_t> groups_;
  friend class StreamSocket;
};

class DatagramSocket final : public Socket {
 public:
  using Socket::Socket;
  short ready(SimTime now) override;
  SimTime changes(SimTime now) override;
  CallResult read(ReadInto& into, SimTime now) override;
  CallResult write(std::span<const std::byte> bytes, const Endpoint* to, SimTime now) override;
  CallResult connect(const Endpoint& to, SimTime now, bool waits) override;
  CallResult shutdown(int how, SimTime now) override;
  void closed(SimTime now) override;
  std::size_t available(SimTime now) override;
  /// Two that are connected with each other.
  static void tie(DatagramSocket& a, DatagramSocket& b);

 private:
  struct Datagram {
    SimTime arrives;
    Endpoint from;
    std::vector<std::byte> bytes;
  };
  [[nodiscard]] bool has_room() const { return held_ < capacity; }
  void deliver(Datagram datagram);
  CallResult send_unix(std::span<const std::byte> bytes, const Endpoint* to, SimTime now);
  static constexpr std::size_t capacity = 212992;
  std::deque<Datagram> inbox_;  // by arrival
  std::size_t held_ = 0;
  bool read_shut_ = false, write_shut_ = false;
  DatagramSocket* other_ = nullptr;  // of a pair
};

class StreamSocket final : public Socket {
 public:
  using Socket::Socket;
  short ready(SimTime now) override;
  SimTime changes(SimTime now) override;
  CallResult read(ReadInto& into, SimTime now) override;
  CallResult write(std::span<const std::byte> bytes, const Endpoint* to, SimTime now) override;
  CallResult connect(const Endpoint& to, SimTime now, bool waits) override;
  CallResult listen(int backlog) override;
  std::shared_ptr<StreamSocket> accept(SimTime now) override;
  CallResult shutdown(int how, SimTime now) override;
  int take_error(SimTime now) override;
  void closed(SimTime now) override;
  std::size_t available(SimTime now) override { return in_ ? in_->available(now) : 0; }
  [[nodiscard]] bool listening() const { return listening_; }
  [[nodiscard]] bool connected(SimTime now) const {
    if (!in_ || established_ > now) return false;
    return is_unix() || (!dead_ && broken(now) == 0 && !(write_shut_ && in_->end_came(now)));
  }
  static void tie(StreamSocket& a, StreamSocket& b);
  [[nodiscard]] SimTime next_queued(SimTime now) const;

 private:
  [[nodiscard]] StreamSocket* find_listener(const Endpoint& to, Host*& host);
  void tell_peer(SimTime at);
  void end_output(SimTime now);
  /// Its other end is told that nobody is here any more.
  void reset_peer(SimTime now);
  void stop_listening(SimTime now);
  /// 0, or why the connection is over at `now`.
  [[nodiscard]] int broken(SimTime now) const;
  bool listening_ = false;
  std::size_t backlog_ = 0;
  std::deque<std::pair<SimTime, std::shared_ptr<StreamSocket>>> queue_;
  std::shared_ptr<Stream> in_, out_;
  std::weak_ptr<Socket> other_;
  Host* other_host_ = nullptr;
  SimTime established_ = SimTime::never();
  SimTime refused_ = SimTime::never();
  int refusal_ = 0;
  bool dead_ = false;    // reset by the other end, which was told
  bool told_ = false;    // that it is connected
  bool failed_ = false;  // to connect, which was told by an error
  bool write_shut_ = false, read_shut_ = false;
  SimTime reset_ = SimTime::never();  // told by the other end
};

}  // namespace isochron::programs
