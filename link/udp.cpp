#include "link/udp.hpp"

#include <sys/epoll.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>

#include "link/socket.hpp"

namespace isochron::link {

DatagramBatch::DatagramBatch() {
  void* at = ::mmap(nullptr, size * stride, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ENSURE(at != MAP_FAILED, "there is memory for the receive buffers");
  memory = static_cast<std::byte*>(at);
}

DatagramBatch::~DatagramBatch() { ::munmap(memory, size * stride); }

namespace {

constexpr int batches_in_a_round = 8;  // then others have their turn

class UdpState final : public Source {
 public:
  UdpState(EpollReactor& reactor, Fd socket, int family)
      : reactor_(reactor), socket_(std::move(socket)), family_(family) {}

  void ready(std::uint32_t) override {
    for (int i = 0; i < batches_in_a_round && socket_.open(); ++i) {
      if (receive() < DatagramBatch::size) return;
    }
  }

  void set_receiver(std::function<void(std::span<const Datagram>)> receiver) {
    if (receiver_) reactor_.bury(std::move(receiver_));  // it may be running
    reactor_.set_interest(socket_.get(), *this, interest_, EPOLLIN);
    interest_ = EPOLLIN;
    receiver_ = std::make_shared<std::function<void(std::span<const Datagram>)>>(std::move(receiver));
  }

  void send(std::span<const Datagram> datagrams) {
    while (!datagrams.empty()) {
      const std::size_t n = std::min(datagrams.size(), DatagramBatch::size);
      const std::size_t ready = prepare(datagrams.first(n));
      send_prepared(ready);
      datagrams = datagrams.subspan(n);
    }
  }

  void close() {
    reactor_.set_interest(socket_.get(), *this, interest_, 0);
    socket_.reset();
  }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
  [[nodiscard]] Address local() const { return local_address(socket_); }
  [[nodiscard]] EpollReactor& reactor() { return reactor_; }

 private:
  /// Hands over one batch; how many there were.
  std::size_t receive() {
    DatagramBatch& batch = reactor_.datagram_batch();
    for (std::size_t i = 0; i < DatagramBatch::size; ++i) {
      batch.pieces[i] = {batch.memory + i * DatagramBatch::stride, 64 * 1024};
      batch.headers[i].msg_hdr = {};
      batch.headers[i].msg_hdr.msg_iov = &batch.pieces[i];
      batch.headers[i].msg_hdr.msg_iovlen = 1;
      batch.headers[i].msg_hdr.msg_name = &batch.addresses[i];
      batch.headers[i].msg_hdr.msg_namelen = sizeof batch.addresses[i];
    }
    const int n = ::recvmmsg(socket_.get(), batch.headers.data(), DatagramBatch::size, MSG_DONTWAIT, nullptr);
    if (n <= 0) return 0;
    const auto count = static_cast<std::size_t>(n);
    for (std::size_t i = 0; i < count; ++i) {
      batch.datagrams[i] = {from_system(batch.addresses[i]),
                            {batch.memory + i * DatagramBatch::stride, batch.headers[i].msg_len}};
    }
    const auto receiver = receiver_.get();
    (*receiver)(std::span(batch.datagrams).first(count));
    return count;
  }

  /// Fills the tables; those whose address does not fit this socket are dropped.
  std::size_t prepare(std::span<const Datagram> datagrams) {
    DatagramBatch& tables = reactor_.datagram_batch();  // a receiver that sends needs only the buffers and datagrams
    std::size_t n = 0;
    for (const Datagram& datagram : datagrams) {
      const socklen_t length = to_system(datagram.address, family_, tables.addresses[n]);
      if (length == 0) {
        ++dropped_;
        continue;
      }
      tables.pieces[n] = {const_cast<std::byte*>(datagram.bytes.data()), datagram.bytes.size()};
      tables.headers[n].msg_hdr = {};
      tables.headers[n].msg_hdr.msg_iov = &tables.pieces[n];
      tables.headers[n].msg_hdr.msg_iovlen = 1;
      tables.headers[n].msg_hdr.msg_name = &tables.addresses[n];
      tables.headers[n].msg_hdr.msg_namelen = length;
      ++n;
    }
    return n;
  }

  void send_prepared(std::size_t count) {
    DatagramBatch& tables = reactor_.datagram_batch();
    for (std::size_t sent = 0; sent < count;) {
      const int n = ::sendmmsg(socket_.get(), tables.headers.data() + sent, static_cast<unsigned>(count - sent),
                               MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n > 0) {
        sent += static_cast<std::size_t>(n);
      } else if (errno == EAGAIN || errno == ENOBUFS) {
        dropped_ += count - sent;
        return;
      } else if (errno != EINTR) {
        ++dropped_;  // this one cannot be sent (too long, no route); the next may
        ++sent;
      }
    }
  }

  EpollReactor& reactor_;
  Fd socket_;
  int family_;
  std::uint32_t interest_ = 0;
  std::shared_ptr<std::function<void(std::span<const Datagram>)>> receiver_;  // shared with the graveyard
  std::uint64_t dropped_ = 0;
};

class UdpPort final : public DatagramPort {
 public:
  explicit UdpPort(std::shared_ptr<UdpState> state) : state_(std::move(state)), local_(state_->local()) {
    state_->reactor().count_object(1);
  }
  ~UdpPort() override {
    EpollReactor& reactor = state_->reactor();
    state_->close();
    reactor.bury(std::move(state_));
    reactor.count_object(-1);
  }
  void set_receiver(std::function<void(std::span<const Datagram>)> receiver) override {
    state_->set_receiver(std::move(receiver));
  }
  void send(std::span<const Datagram> datagrams) override { state_->send(datagrams); }
  [[nodiscard]] std::uint64_t dropped() const override { return state_->dropped(); }
  [[nodiscard]] Address local() const override { return local_; }

 private:
  std::shared_ptr<UdpState> state_;  // shared with the round that may be inside it
  Address local_;
};

}  // namespace

Result<std::unique_ptr<DatagramPort>, NetError> open_udp(EpollReactor& reactor, const Address& at) {
  auto socket = bound_socket(at, SOCK_DGRAM);
  if (!socket) return fail(socket.error());
  const int bytes = reactor.options().receive_buffer;
  set_option(*socket, SOL_SOCKET, SO_RCVBUF, bytes);
  set_option(*socket, SOL_SOCKET, SO_RCVBUFFORCE, bytes);
  auto state = std::make_shared<UdpState>(reactor, std::move(*socket), family_of(at));
  return std::unique_ptr<DatagramPort>(std::make_unique<UdpPort>(std::move(state)));
}

}  // namespace isochron::link
