#pragma once
// A small protocol, written once against Reactor: a counter on a server, clients that add to it by datagrams, each
// request carried out exactly once although datagrams are lost, doubled and late. It shows what testing/ is for, and
// its `careless` variants are bugs that only bad luck brings out.

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "core/network.hpp"

namespace isochron::example {

struct Packet {
  std::uint64_t request = 0;  // counts up in each client
  std::int64_t number = 0;    // to add; in an answer: the sum
};

enum class Care { right, adds_again_when_asked_again, takes_any_answer };

/// Adds what it is asked to, once for each request, and answers with the sum.
class CounterServer {
 public:
  CounterServer(Reactor& reactor, const Address& at, Care care);
  [[nodiscard]] Address address() const { return port_->local(); }
  [[nodiscard]] std::int64_t sum() const { return sum_; }

 private:
  struct Client {
    std::uint64_t last_request = 0;
    std::int64_t answer = 0;
  };
  void receive(std::span<const Datagram> datagrams);
  Care care_;
  std::int64_t sum_ = 0;
  std::map<Address, Client> clients_;
  std::unique_ptr<DatagramPort> port_;
};

/// Asks for one addition after the other; repeats a request until it is answered.
class CounterClient {
 public:
  CounterClient(Reactor& reactor, const Address& at, const Address& server, Care care);
  ~CounterClient() { reactor_.cancel(timer_); }
  CounterClient(const CounterClient&) = delete;
  CounterClient& operator=(const CounterClient&) = delete;
  /// Adds all of these, then calls `when_done`.
  void add(std::vector<std::int64_t> numbers, std::function<void()> when_done);
  [[nodiscard]] const std::vector<std::int64_t>& answers() const { return answers_; }

 private:
  void ask();
  void receive(std::span<const Datagram> datagrams);
  Reactor& reactor_;
  Address server_;
  Care care_;
  std::unique_ptr<DatagramPort> port_;
  std::vector<std::int64_t> numbers_, answers_;
  std::function<void()> when_done_;
  Reactor::TimerId timer_ = 0;
};

}  // namespace isochron::example
