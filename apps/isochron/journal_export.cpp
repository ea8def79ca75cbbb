// `isochron journal export`: any number of any journal as CSV, for whatever tool the reader likes.

#include "apps/isochron/command.hpp"
#include "apps/isochron/distance.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/input_error.hpp"
#include "journal/decode.hpp"
#include "journal/disk.hpp"

namespace isochron::app {
namespace {

struct Flags {
  std::string file, topic, fields;
  bool csv = false;
};

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  std::size_t from = 0;
  while (from <= list.size()) {
    const std::size_t comma = std::min(list.find(',', from), list.size());
    if (comma == from) throw InputError({"FIELDS", 0, 0}, "has an empty name", "as in bodies[0],bodies[1]");
    names.push_back(list.substr(from, comma - from));
    from = comma + 1;
  }
  return names;
}

std::string number_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

/// The words of the fields that a record has, for the message about one that it has not.
std::string some_fields(const Decoder& decoder, const MessageView& message) {
  std::string all;
  std::size_t count = 0;
  for (const NamedValue& value : decoder.values(message.data)) {
    if (!to_number(value.value)) continue;
    if (++count > 8) return all + ", …";
    all += (all.empty() ? "" : ", ") + value.path;
  }
  return all;
}

/// One line of the table; throws when a field is missing in the first record, leaves it empty in later ones.
std::string line(const Decoder& decoder, const MessageView& message, const std::vector<std::string>& fields,
                 bool first) {
  std::vector<std::optional<double>> values(fields.size());
  decoder.each(message.data, [&](const std::string& path, const Scalar& value) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (path == fields[i]) values[i] = to_number(value);
    }
  });
  std::string text = std::to_string(message.time.ns());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (first && !values[i]) {
      throw InputError({message.channel->topic, 0, 0}, "has no number called " + fields[i],
                       "it has " + some_fields(decoder, message));
    }
    text += "," + (values[i] ? number_text(*values[i]) : "");
  }
  return text + "\n";
}

int export_fields(const Flags& flags) {
  PosixDisk disk;
  const std::vector<std::string> fields = names_in(flags.fields);
  auto reader = McapReader::open(disk, flags.file);
  if (!reader.ok()) throw InputError({"", 0, 0}, reader.error().what, "");
  const mcap::Channel* channel = reader->channel(flags.topic);
  if (channel == nullptr) {
    throw InputError({flags.file, 0, 0}, "has no topic " + flags.topic,
                     "`isochron journal info " + flags.file + "` lists them");
  }
  const auto decoder = Decoder::make(*channel, reader->schema_of(*channel));
  if (!decoder) throw InputError({flags.file, 0, 0}, decoder.error(), "");
  std::string text = "time_ns";
  for (const std::string& field : fields) text += "," + field;
  text += "\n";
  bool first = true;
  MessageCursor cursor = reader->messages({{flags.topic}});
  while (const auto message = cursor.next()) {
    text += line(*decoder, *message, fields, first);
    first = false;
    if (text.size() > (1U << 16U)) print(std::exchange(text, ""));
  }
  print(text);
  for (const Damage& damage : reader->damage()) say("note: " + to_string(damage) + "\n");
  return exit_fine;
}

int export_distance(const std::string& file, const std::string& a, const std::string& b) {
  PosixDisk disk;
  const auto distances = body_distances(disk, file, a, b);
  if (!distances) throw InputError({"", 0, 0}, distances.error(), "");
  std::string text = "distance\n";
  for (const double d : *distances) text += number_text(d) + "\n";
  print(text);
  return exit_fine;
}

}  // namespace

void add_journal_export(CLI::App& journal, Action& action) {
  auto flags = std::make_shared<Flags>();
  CLI::App* fields = journal.add_subcommand("export", "fields of a topic over time, as CSV");
  fields->add_option("FILE", flags->file, "journal")->required();
  fields->add_option("TOPIC", flags->topic, "as `journal info` lists them")->required();
  fields->add_option("FIELDS", flags->fields, "as in bodies[0],bodies[1]")->required();
  fields->add_flag("--csv", flags->csv, "the only format there is");
  fields->callback([&action, flags] { action = [flags] { return export_fields(*flags); }; });

  auto between = std::make_shared<std::array<std::string, 3>>();
  CLI::App* distance =
      journal.add_subcommand("distance", "how far apart two bodies were, as CSV, a line for each state");
  distance->add_option("FILE", (*between)[0], "journal")->required();
  distance->add_option("A", (*between)[1], "body")->required();
  distance->add_option("B", (*between)[2], "body")->required();
  distance->callback([&action, between] {
    action = [between] { return export_distance((*between)[0], (*between)[1], (*between)[2]); };
  });
}

}  // namespace isochron::app
