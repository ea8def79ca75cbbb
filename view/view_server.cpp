#include "view/view_server.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "view/foxglove.hpp"
#include "view/page.hpp"

namespace isochron::view {
namespace {

/// The questions' arguments; times are seconds.
class Arguments {
 public:
  explicit Arguments(const WebRequest& request) : request_(request) {}
  [[nodiscard]] std::string text(const char* key) const {
    const auto found = request_.query.find(key);
    return found != request_.query.end() ? found->second : "";
  }
  [[nodiscard]] double number(const char* key, double otherwise) const {
    const std::string given = text(key);
    double value = 0;
    const auto read = std::from_chars(given.data(), given.data() + given.size(), value);
    return given.empty() || read.ec != std::errc() || !(value >= 0 && value < 9e9) ? otherwise : value;
  }
  [[nodiscard]] SimTime time(const char* key, SimTime otherwise) const {
    const double seconds = number(key, -1);
    return seconds < 0 ? otherwise : SimTime::from_ns(static_cast<std::int64_t>(seconds * 1e9 + 0.5));
  }
  [[nodiscard]] Window window() const { return {time("from", SimTime::zero()), time("to", SimTime::never())}; }

 private:
  const WebRequest& request_;
};

std::optional<Answer> answer(RunSource& source, const std::string& question, const Arguments& with) {
  if (question == "about") return source.about();
  if (question == "frames")
    return source.frames(with.window(), SimSpan::from_ns(static_cast<std::int64_t>(with.number("step", 0) * 1e9)));
  if (question == "series") {
    const auto points = static_cast<std::size_t>(std::clamp(with.number("points", 1000), 1.0, 20000.0));
    return source.series(with.text("topic"), with.text("field"), with.window(), points);
  }
  if (question == "latest") return source.latest(with.text("topic"), with.time("at", SimTime::zero()));
  if (question == "schema") return source.schema(with.text("topic"));
  if (question == "fields") return source.fields(with.text("topic"));
  if (question == "events") return source.events(with.window());
  return std::nullopt;
}

const char* type_of(const std::string& question) {
  return question == "frames" || question == "latest" ? "application/octet-stream" : "application/json";
}

}  // namespace

WebResponse ViewServer::get(const WebRequest& request) {
  if (const auto file = page_file(request.path)) return {200, file->type, std::string(file->bytes)};
  constexpr std::string_view prefix = "/api/";
  if (!request.path.starts_with(prefix)) return {404, "text/plain", "there is no such page\n"};
  const std::string question = request.path.substr(prefix.size());
  LiveSource* const live = live_.load();
  if (question == "do" && live == nullptr) return {404, "text/plain", "the run has ended\n"};
  std::optional<Answer> given = question == "do" ? std::optional<Answer>(live->obey(Arguments(request).text("wish")))
                                                 : answer(*source_.load(), question, Arguments(request));
  if (!given) return {404, "text/plain", "unknown request\n"};
  if (!given->ok()) return {404, "text/plain", given->error() + "\n"};
  return {200, type_of(question), std::move(*given).value()};
}

std::unique_ptr<Session> ViewServer::open(const WebRequest& request, const std::vector<std::string>& offered,
                                          std::string& chosen, std::shared_ptr<Peer> peer) {
  LiveSource* const live = live_.load();
  if (live == nullptr) return nullptr;
  for (const char* protocol : foxglove_protocols) {
    if (std::ranges::find(offered, protocol) == offered.end()) continue;
    chosen = protocol;
    return open_foxglove(*live, std::move(peer));
  }
  if (request.path == "/live") return live->open(std::move(peer));
  return nullptr;
}

}  // namespace isochron::view
