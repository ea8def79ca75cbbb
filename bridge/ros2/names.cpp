#include "bridge/ros2/names.hpp"

#include <algorithm>

#include "core/input_error.hpp"

namespace isochron::ros2 {
namespace {

constexpr std::string_view topic_prefix = "rt", request_prefix = "rq", reply_prefix = "rr";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_token(std::string_view text) {
  return !text.empty() && !is_digit(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

/// Tokens with a / before each.
bool is_path(std::string_view text) {
  while (!text.empty()) {
    if (text.front() != '/') return false;
    text.remove_prefix(1);
    const std::size_t end = std::min(text.find('/'), text.size());
    if (!is_token(text.substr(0, end))) return false;
    text.remove_prefix(end);
  }
  return true;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  for (auto at = out.find(from); at != std::string::npos; at = out.find(from, at + to.size())) {
    out.replace(at, from.size(), to);
  }
  return out;
}

}  // namespace

std::string full_type_name(std::string_view name) {
  const auto slash = name.find('/');
  if (slash == std::string_view::npos || name.find('/', slash + 1) != std::string_view::npos) return std::string(name);
  return std::string(name.substr(0, slash)) + "/msg" + std::string(name.substr(slash));
}

std::string full_namespace(std::string_view space) {
  if (space.empty() || space == "/") return "/";
  const std::string full = (space.front() == '/' ? "" : "/") + std::string(space);
  if (!is_path(full)) {
    throw InputError({}, "`" + std::string(space) + "` is no namespace of ROS 2", "as in /robot or /fleet/robot_1");
  }
  return full;
}

std::string full_name(std::string_view name, std::string_view space, std::string_view node) {
  const std::string root = space == "/" ? "" : std::string(space);
  std::string full(name);
  if (full.starts_with("~/")) {
    full = root + "/" + std::string(node) + full.substr(1);
  } else if (!full.starts_with('/')) {
    full = root + "/" + full;
  }
  if (full.size() > 1 && is_path(full)) return full;
  throw InputError({}, "`" + std::string(name) + "` is no name of ROS 2",
                   "letters, digits and _ between slashes, not a digit first, as in /robot_1/scan");
}

void check_node_name(std::string_view name) {
  if (is_token(name)) return;
  throw InputError({}, "`" + std::string(name) + "` is no name of a node", "letters, digits and _, not a digit first");
}

std::string dds_topic(std::string_view full) { return std::string(topic_prefix) + std::string(full); }
std::string dds_request(std::string_view full) { return std::string(request_prefix) + std::string(full) + "Request"; }
std::string dds_reply(std::string_view full) { return std::string(reply_prefix) + std::string(full) + "Reply"; }

std::string dds_type(std::string_view type, std::string_view suffix) {
  const auto last = type.rfind('/');
  if (last == std::string_view::npos) return std::string(type);
  return replaced(type.substr(0, last), "/", "::") + "::dds_::" + std::string(type.substr(last + 1)) +
         std::string(suffix) + "_";
}

std::string ros_topic(std::string_view topic) {
  const bool ours =
      topic.size() > 3 && topic[2] == '/' &&
      (topic.starts_with(topic_prefix) || topic.starts_with(request_prefix) || topic.starts_with(reply_prefix));
  return std::string(ours ? topic.substr(2) : topic);
}

std::string ros_type(std::string_view type) {
  const auto middle = type.find("::dds_::");
  if (middle == std::string_view::npos || !type.ends_with('_')) return std::string(type);
  return replaced(replaced(type.substr(0, type.size() - 1), "::dds_::", "/"), "::", "/");
}

}  // namespace isochron::ros2
