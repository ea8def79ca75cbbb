#pragma once
// What `view` and `run --view` share: a server with the page, its address on the terminal, and a browser if there is
// one.

#include <memory>
#include <string>

#include "view/web_server.hpp"

namespace isochron::app {

struct ViewFlags {
  std::uint16_t port = 0;  // 0 = any that is free
  bool open = false;       // start a browser
  bool json = false;       // say the address as JSON
  std::string at;          // "#t=3.21": the time that the page opens at; "" = the start
};

/// Starts serving and says where. Throws InputError when the port is taken.
std::unique_ptr<view::WebServer> serve_view(view::WebHandler& handler, const ViewFlags& flags);

}  // namespace isochron::app
