#include "view/program_events.hpp"

#include "run/program_record.hpp"

namespace isochron::view {

using Json = nlohmann::ordered_json;

bool tells_of_programs(std::string_view topic) {
  return topic.starts_with(programs_prefix) || topic.starts_with(turns_prefix);
}

std::optional<Json> program_event(std::string_view topic, std::span<const std::byte> message) {
  if (topic.starts_with(turns_prefix)) {
    const auto turn = cdr_read<TurnRecord>(message);
    if (!turn.ok()) return std::nullopt;
    return Json{topic.substr(turns_prefix.size()),
                turn->from.seconds(),
                "turn",
                turn->asked.seconds(),
                turn->to.seconds(),
                turn->preempted_by};
  }
  const auto event = cdr_read<ProgramEvent>(message);
  if (!event.ok()) return std::nullopt;
  return Json{topic.substr(programs_prefix.size()), event->at.seconds(), event->what, event->about};
}

}  // namespace isochron::view
