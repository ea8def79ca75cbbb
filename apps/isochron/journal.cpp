#include "journal/recover.hpp"

#include <nlohmann/json.hpp>

#include "apps/isochron/command.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/foreign_text.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "journal/diff.hpp"
#include "journal/digest.hpp"
#include "journal/disk.hpp"
#include "journal/merge.hpp"

namespace isochron::app {
namespace {

McapReader open(Disk& disk, const std::string& file) {
  auto reader = McapReader::open(disk, file);
  if (!reader.ok()) throw InputError({"", 0, 0}, reader.error().what, "");
  return std::move(reader).value();
}

int diff(const std::string& a, const std::string& b, bool json) {
  PosixDisk disk;
  McapReader first = open(disk, a), second = open(disk, b);
  const Comparison comparison = compare(first, second);
  if (json) {
    nlohmann::ordered_json out{{"equal", !comparison.first},
                               {"equal_records", comparison.equal_records},
                               {"made_of", comparison.made_of},
                               {"notes", comparison.notes}};
    if (comparison.first) {
      const Difference& d = *comparison.first;
      out["first"] = {{"topic", d.topic},
                      {"participant", d.participant},
                      {"time_ns", d.time.ns()},
                      {"sequence", d.sequence},
                      {"a", d.a},
                      {"b", d.b}};
    }
    print(json_text(out, 2) + "\n");
    return comparison.first ? exit_no : exit_fine;
  }
  std::string text;
  for (const std::string& part : comparison.made_of) text += yellow("made of: ") + part + "\n";
  if (comparison.first) {
    text += red("different") + " after " + std::to_string(comparison.equal_records) + " equal records\n" +
            to_string(*comparison.first) + "\n";
  } else {
    text += green("equal") + ": " + std::to_string(comparison.equal_records) + " records\n";
  }
  for (const std::string& note : comparison.notes) text += yellow("note: ") + note + "\n";
  print(text);
  return comparison.first ? exit_no : exit_fine;
}

std::string ending_text(const McapReader& reader) {
  return reader.ending() == Ending::whole ? "whole"
                                          : "cut: finish it with `isochron journal recover " + reader.name() + "`";
}

int info(const std::string& file, bool json) {
  PosixDisk disk;
  McapReader reader = open(disk, file);
  const mcap::Statistics& s = reader.statistics();
  const Digest digest = digest_of(reader);
  std::vector<std::vector<std::string>> rows{{"topic", "records", "type"}};
  nlohmann::ordered_json channels = nlohmann::ordered_json::array();
  for (const mcap::Channel& channel : reader.channels()) {
    std::uint64_t count = 0;
    for (const auto& [id, n] : s.channel_message_counts) count += id == channel.id ? n : 0;
    const mcap::Schema* schema = reader.schema_of(channel);
    rows.push_back({channel.topic, std::to_string(count), schema != nullptr ? schema->name : ""});
    channels.push_back({{"topic", channel.topic}, {"records", count}, {"type", schema != nullptr ? schema->name : ""}});
  }
  std::vector<std::string> damage;
  for (const Damage& d : reader.damage()) damage.push_back(to_string(d));
  if (json) {
    print(json_text(nlohmann::ordered_json{{"file", file},
                                           {"whole", reader.ending() == Ending::whole},
                                           {"records", s.message_count},
                                           {"first_ns", s.start_time},
                                           {"last_ns", s.end_time},
                                           {"digest", digest.hex},
                                           {"digest_complete", digest.complete},
                                           {"channels", channels},
                                           {"damage", damage}},
                    2) +
          "\n");
    return exit_fine;
  }
  std::string text = bold(file) + "  " + ending_text(reader) + "\n" + std::to_string(s.message_count) +
                     " records from " + format_ns(static_cast<std::int64_t>(s.start_time)) + " to " +
                     format_ns(static_cast<std::int64_t>(s.end_time)) + "\ndigest " + digest.hex +
                     (digest.complete ? "" : " (incomplete: " + digest.why_incomplete + ")") + "\n\n" + table(rows);
  for (const std::string& d : damage) text += red("damage: ") + d + "\n";
  print(text);
  return exit_fine;
}

int recover_file(const std::string& in, const std::string& out) {
  PosixDisk disk;
  const auto recovered = recover(disk, in, out.empty() ? in : out);
  if (!recovered.ok()) throw InputError({"", 0, 0}, recovered.error().what, "");
  std::string text;
  for (const Damage& damage : recovered->damage) text += yellow("damage: ") + to_string(damage) + "\n";
  text += (out.empty() ? in : out) + (recovered->was_whole ? " was whole" : " is whole again") + ": " +
          std::to_string(recovered->messages) + " records, digest " + recovered->digest.hex +
          (recovered->digest.complete ? "" : " (incomplete)") + "\n";
  print(text);
  return exit_fine;
}

int merge_files(const std::vector<std::string>& files, const std::string& out) {
  PosixDisk disk;
  const auto merged = merge_journals(disk, files, out);
  if (!merged.ok()) throw InputError({"", 0, 0}, merged.error().what, "");
  print(out + ": " + std::to_string(merged->messages) + " records, digest " + merged->digest.hex +
        (merged->digest.complete ? "" : " (incomplete: " + merged->digest.why_incomplete + ")") + "\n");
  return exit_fine;
}

}  // namespace

void add_diff(CLI::App& app, Action& action) {
  auto a = std::make_shared<std::string>(), b = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App* verb =
      app.add_subcommand("diff", "name the first record where two runs part; exit 0 when they are equal, 1 when not");
  verb->add_option("A", *a, "journal")->required();
  verb->add_option("B", *b, "journal")->required();
  verb->add_flag("--json", *json, "for machines");
  verb->callback([&action, a, b, json] { action = [=] { return diff(*a, *b, *json); }; });
}

void add_journal(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("journal", "look into a journal, or make a killed run's journal whole again");
  verb->require_subcommand(1);
  auto file = std::make_shared<std::string>(), out = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  CLI::App* look = verb->add_subcommand("info", "what is in it, and its digest");
  look->add_option("FILE", *file, "journal")->required();
  look->add_flag("--json", *json, "for machines");
  look->callback([&action, file, json] { action = [=] { return info(*file, *json); }; });
  CLI::App* mend = verb->add_subcommand("recover", "finish a journal whose run was killed; nothing readable is lost");
  mend->add_option("FILE", *file, "journal")->required();
  mend->add_option("-o,--output", *out, "write the whole one here instead of in place");
  mend->callback([&action, file, out] { action = [=] { return recover_file(*file, *out); }; });
  auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* join = verb->add_subcommand("merge", "one journal of those that the nodes of a run left on their hosts");
  join->add_option("FILES", *files, "journals")->required();
  join->add_option("-o,--output", *out, "the common one")->required();
  join->callback([&action, files, out] { action = [=] { return merge_files(*files, *out); }; });
  add_journal_export(*verb, action);
}

}  // namespace isochron::app
