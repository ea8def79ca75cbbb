#include "apps/isochron/distance.hpp"

#include <cmath>

#include "journal/named_series.hpp"

namespace isochron::app {
namespace {

/// Where a body is in a record: x, y and z. Empty: the journal has no such body.
std::vector<NumberReader> position_of(const Names& names, const std::string& body, std::string& topic) {
  std::vector<NumberReader> axes;
  for (const char* axis : {".position.x", ".position.y", ".position.z"}) {
    const auto number = names.find(body + axis);
    if (!number || (!topic.empty() && topic != number->topic)) return {};
    topic = number->topic;
    axes.push_back(names.reader(*number));
  }
  return axes;
}

}  // namespace

Result<std::vector<double>, std::string> body_distances(Disk& disk, const std::string& journal, const std::string& a,
                                                        const std::string& b) {
  auto reader = McapReader::open(disk, journal);
  if (!reader.ok()) return fail(reader.error().what);
  const Names names = names_of(*reader);
  std::string topic;
  std::vector<NumberReader> from = position_of(names, a, topic), to = position_of(names, b, topic);
  for (const auto& [body, axes] : {std::pair(&a, &from), std::pair(&b, &to)}) {
    if (axes->empty()) return fail(journal + " has no body " + *body + "; " + names.hint(*body + ".position.x"));
  }
  std::vector<double> distances;
  MessageCursor cursor = reader->messages({{topic}});
  while (const auto message = cursor.next()) {
    double squares = 0;
    bool whole = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto x = from[axis].number(message->data), y = to[axis].number(message->data);
      whole = whole && x && y;
      if (whole) squares += (*x - *y) * (*x - *y);
    }
    if (whole) distances.push_back(std::sqrt(squares));
  }
  return distances;
}

}  // namespace isochron::app
