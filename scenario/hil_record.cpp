#include "scenario/hil_record.hpp"

#include <algorithm>

namespace isochron {
namespace {

const char* to_string(hil::Hold::Cause cause) {
  switch (cause) {
    case hil::Hold::Cause::world:
      return "world";
    case hil::Hold::Cause::target:
      return "target";
    case hil::Hold::Cause::pace:
      return "pace";
    case hil::Hold::Cause::host:
      break;
  }
  return "host";
}

coordinator::Happening::Kind kind_of(hil::What what) {
  using Kind = coordinator::Happening::Kind;
  switch (what) {
    case hil::What::start:
      return Kind::start;
    case hil::What::release:
      return Kind::release;
    case hil::What::read:
      return Kind::read;
    case hil::What::write:
      return Kind::write;
    case hil::What::send:
      return Kind::send;
    case hil::What::receive:
      return Kind::receive;
    case hil::What::log:
      return Kind::log;
    case hil::What::fault:
      return Kind::fault;
    case hil::What::end:
      break;
  }
  return Kind::end;
}

}  // namespace

HilRecorder::HilRecorder(RunRecord& record, RunWatch& watch, std::vector<std::string> targets,
                         const std::vector<coordinator::Variable>& variables)
    : record_(record),
      watch_(watch),
      targets_(std::move(targets)),
      variables_(variables),
      programs_(record, targets_, std::vector<Fraction>(targets_.size()), variables),
      holds_(record.journal().channel<HoldRecord>("/hil/holds", {.in_digest = false})),
      links_(targets_.size()) {}

void HilRecorder::happened(const hil::Happening& happening) {
  event_.kind = kind_of(happening.what);
  event_.at = happening.at;
  event_.program = happening.target;
  event_.about = happening.about;
  event_.stamp = happening.stamp;
  // A picture is in the record already, as the sensor's.
  const bool picture = happening.what == hil::What::read && variables_[happening.about].varies;
  event_.bytes.assign(happening.bytes.begin(), picture ? happening.bytes.begin() : happening.bytes.end());
  programs_.happened(event_);
}

void HilRecorder::held(const hil::Hold& hold) {
  hold_.target = targets_[hold.target];
  hold_.link = hold.link;
  hold_.cause = to_string(hold.cause);
  hold_.by = hold.by == hil::nothing ? "" : targets_[hold.by];
  hold_.asked = hold.asked;
  hold_.answered = hold.answered;
  hold_.held_s = hold.held.seconds();
  record_.producer().write(holds_, hold.answered, hold_);
}

void HilRecorder::world_at(WallTime, SimTime st) {
  world_ = st;
  record_.progress(ParticipantId(0), st);
  record_.look(watch_, st);
}

void HilRecorder::target_at(hil::LinkId link, std::uint32_t target, WallTime, SimTime et) {
  auto& links = links_[target];
  auto one = std::find_if(links.begin(), links.end(), [link](const Link& l) { return l.id == link; });
  if (one == links.end()) one = links.insert(links.end(), Link{link, et});
  one->at = std::max(one->at, et);  // an estimate while it runs may be ahead by the link's delay
  record_.progress(ParticipantId(target + 1), farthest(target));
}

void HilRecorder::target_left(hil::LinkId link, std::uint32_t target, WallTime) {
  auto& links = links_[target];
  if (std::erase_if(links, [link](const Link& l) { return l.id == link; }) == 0) return;
  if (links.empty()) record_.leave(ParticipantId(target + 1));
}

SimTime HilRecorder::farthest(std::uint32_t target) const {
  const auto distance = [this](const Link& link) { return std::max(link.at - world_, world_ - link.at); };
  const auto& links = links_[target];
  return std::max_element(links.begin(), links.end(),
                          [&](const Link& a, const Link& b) { return distance(a) < distance(b); })
      ->at;
}

}  // namespace isochron
