#pragma once
// TCP for the EpollReactor: streams and listeners. Used through core/network.hpp.

#include <functional>
#include <memory>

#include "link/reactor.hpp"

namespace isochron::link {

Result<std::unique_ptr<Listener>, NetError> listen_tcp(EpollReactor& reactor, const Address& at,
                                                       std::function<void(std::unique_ptr<Stream>)> on_accept);
std::unique_ptr<Stream> connect_tcp(EpollReactor& reactor, const Address& to);

}  // namespace isochron::link
