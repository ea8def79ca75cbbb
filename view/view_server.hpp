#pragma once
// Serves one run to web pages and to Foxglove: the page itself, the questions of RunSource under /api/, and, for a run
// that is under way, a WebSocket that shows it and steers it.
//
// Threads: get() and open() from the web server's threads.

#include <atomic>

#include "view/live_source.hpp"
#include "view/run_source.hpp"
#include "view/web_server.hpp"

namespace isochron::view {

class ViewServer final : public WebHandler {
 public:
  /// A run on disk.
  explicit ViewServer(RunSource& source) : source_(&source) {}
  /// A run under way.
  explicit ViewServer(LiveSource& live) : source_(&live), live_(&live) {}
  /// The run that was under way is on disk now. Both sources outlive the server.
  void show(RunSource& source) {
    source_.store(&source);
    live_.store(nullptr);
  }

  WebResponse get(const WebRequest& request) override;
  std::unique_ptr<Session> open(const WebRequest& request, const std::vector<std::string>& offered, std::string& chosen,
                                std::shared_ptr<Peer> peer) override;

 private:
  std::atomic<RunSource*> source_;
  std::atomic<LiveSource*> live_{nullptr};
};

}  // namespace isochron::view
