#include "apps/isochron/journal_trace.hpp"

#include <map>
#include <nlohmann/json.hpp>

#include "apps/isochron/command.hpp"
#include "apps/isochron/report_data.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "journal/disk.hpp"
#include "run/recorded_scenario.hpp"

namespace isochron::app {
namespace {

using Json = nlohmann::ordered_json;

/// Prints events one by one: a long run has millions.
class TraceWriter {
 public:
  explicit TraceWriter(const RunData& run) {
    for (const ProgramTrack& track : run.tracks) place_of(track.program);
  }
  ~TraceWriter() { flush(); }

  struct Where {
    int process, thread;
  };
  Where place_of(const std::string& program) {
    if (const auto found = places_.find(program); found != places_.end()) return found->second;
    const std::string robot = program.substr(0, program.find('/'));
    const auto [process, fresh] = robots_.emplace(robot, static_cast<int>(robots_.size()) + 2);  // 1 is the run
    const Where where{process->second, static_cast<int>(places_.size()) + 1};
    places_.emplace(program, where);
    if (fresh) add({{"name", "process_name"}, {"ph", "M"}, {"pid", where.process}, {"args", {{"name", robot}}}});
    add({{"name", "thread_name"},
         {"ph", "M"},
         {"pid", where.process},
         {"tid", where.thread},
         {"args", {{"name", program}}}});
    return where;
  }

  /// Something that lasts.
  void span(const std::string& name, const char* category, Where where, double from_s, double to_s, Json more) {
    add({{"name", name},
         {"cat", category},
         {"ph", "X"},
         {"ts", from_s * 1e6},
         {"dur", std::max(0.0, to_s - from_s) * 1e6},
         {"pid", where.process},
         {"tid", where.thread},
         {"args", std::move(more)}});
  }
  void instant(const std::string& name, const char* category, Where where, double at_s, Json more) {
    add({{"name", name},
         {"cat", category},
         {"ph", "i"},
         {"s", where.process == 1 ? "g" : "t"},
         {"ts", at_s * 1e6},
         {"pid", where.process},
         {"tid", where.thread},
         {"args", std::move(more)}});
  }
  void arrow(Where from, double from_s, Where to, double to_s) {
    const auto end = [&](const char* kind, Where where, double at_s) {
      add({{"name", "message"},
           {"cat", "messages"},
           {"ph", kind},
           {"bp", "e"},
           {"id", arrows_},
           {"ts", at_s * 1e6},
           {"pid", where.process},
           {"tid", where.thread}});
    };
    ++arrows_;
    end("s", from, from_s);
    end("f", to, to_s);
  }
  void counter(const char* name, double at_s, double value) {
    add({{"name", name}, {"ph", "C"}, {"ts", at_s * 1e6}, {"pid", 1}, {"args", {{name, value}}}});
  }

  void begin() {
    text_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n" + text_;
    began_ = true;
    add({{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", "run"}}}});
  }
  void end() { text_ += "\n]}\n"; }

 private:
  void add(const Json& event) {
    text_ += (first_ ? "" : ",\n") + json_text(event);
    first_ = false;
    if (began_ && text_.size() > (1U << 16U)) flush();
  }
  void flush() { print(std::exchange(text_, "")); }

  std::map<std::string, int> robots_;
  std::map<std::string, Where> places_;
  std::string text_;
  bool first_ = true, began_ = false;
  std::uint64_t arrows_ = 0;
};

void write_track(TraceWriter& trace, const ProgramTrack& track) {
  const TraceWriter::Where where = trace.place_of(track.program);
  for (const CoreTurn& turn : track.turns) {
    Json more{{"ready_since_s", turn.asked_s}};
    if (!turn.preempted_by.empty()) more["preempted_by"] = turn.preempted_by;
    trace.span("executes", "turns", where, turn.from_s, turn.to_s, std::move(more));
  }
  if (track.turns.empty()) {
    for (const Activation& one : track.activations) {
      trace.span("activation", "activations", where, one.begin_s, one.end_s, {{"due_s", one.due_s}});
    }
  }
  for (const Happened& one : track.happened) {
    if (one.what == "receive") {
      trace.arrow(trace.place_of(one.about), one.since_s, where, one.at_s);
    } else {
      trace.instant(one.what, "happenings", where, one.at_s, {{"about", one.about}});
    }
  }
}

void write_marks(TraceWriter& trace, const std::string& file) {
  PosixDisk disk;
  auto opened = McapReader::open(disk, file);
  if (!opened.ok()) return;
  for (const Mark& mark : marks_of(*opened)) {
    trace.instant(mark.what + " " + mark.about, "marks", {1, 0}, mark.at.seconds(), {{"seconds", mark.seconds}});
  }
}

}  // namespace

int export_trace(const std::string& journal) {
  PosixDisk disk;
  const RunData run = load_run(disk, journal);
  if (run.tracks.empty()) {
    throw InputError({journal, 0, 0}, "has no schedule: no program's doings are in it",
                     "controllers in libraries have none in mode callback");
  }
  TraceWriter trace(run);
  trace.begin();
  for (const ProgramTrack& track : run.tracks) write_track(trace, track);
  for (const Point& point : run.drift) trace.counter("drift_s", point.x, point.y);
  write_marks(trace, journal);
  trace.end();
  for (const std::string& banner : run.banners) say("note: " + banner + "\n");
  return exit_fine;
}

}  // namespace isochron::app
