#pragma once
// The states of vehicles, aircraft and the like in a journal: one channel for each, one reader for each.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/cdr.hpp"
#include "journal/mcap_reader.hpp"

namespace isochron::app {

/// `Reader` is made with the name of what it reads of and the end of the run in seconds, takes its states in their
/// order, and comes to its figures. `prefix`: of the channels' names.
template <class Reader, class State, class Figures>
void read_states(McapReader& journal, std::string_view prefix, std::vector<Figures>& found) {
  const double end_s = static_cast<double>(journal.statistics().end_time) * 1e-9;
  std::map<std::string, Reader> readers;
  std::vector<std::string> topics;
  for (const mcap::Channel& channel : journal.channels()) {
    const mcap::Schema* schema = journal.schema_of(channel);
    const bool one = schema != nullptr && schema->name == message_name<State>();
    if (!one || !channel.topic.starts_with(prefix)) continue;
    topics.push_back(channel.topic);
    readers.emplace(channel.topic, Reader(channel.topic.substr(prefix.size()), end_s));
  }
  if (topics.empty()) return;
  auto cursor = journal.messages({.topics = topics});
  while (const auto message = cursor.next()) {
    if (const auto state = cdr_read<State>(message->data); state.ok()) readers.at(message->channel->topic).take(*state);
  }
  for (auto& [topic, reader] : readers) found.push_back(reader.finish());
}

}  // namespace isochron::app
