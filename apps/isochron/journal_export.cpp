// `isochron journal export`: any number of any journal as CSV, for whatever tool the reader likes; `journal names`:
// what they are called.

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <optional>

#include "apps/isochron/command.hpp"
#include "apps/isochron/distance.hpp"
#include "apps/isochron/journal_trace.hpp"
#include "apps/isochron/terminal.hpp"
#include "core/input_error.hpp"
#include "core/time_text.hpp"
#include "journal/decode.hpp"
#include "journal/disk.hpp"
#include "journal/named_series.hpp"
#include "journal/table.hpp"

namespace isochron::app {
namespace {

struct Flags {
  std::string file, topic, fields, parquet, hdf5;
  bool csv = false, trace = false;
  std::string every;
};

/// Rows at least so far apart in time; the first is always one.
class Thinner {
 public:
  explicit Thinner(const std::string& every) {
    if (every.empty()) return;
    const auto span = parse_span<SimClockTag>(every);
    if (!span.ok() || *span <= SimSpan::zero()) {
      throw InputError({"--every " + every, 0, 0}, "a time is expected here", "as in --every 100ms");
    }
    every_ = *span;
  }
  [[nodiscard]] bool takes(SimTime t) {
    if (next_ && t < *next_) return false;
    next_ = t + every_;
    return true;
  }

 private:
  SimSpan every_{};
  std::optional<SimTime> next_{};
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
                 const std::multimap<std::string, std::size_t>& columns, bool first) {
  std::vector<std::optional<double>> values(fields.size());
  decoder.each(message.data, [&](const std::string& path, const Scalar& value) {
    const auto [begin, end] = columns.equal_range(path);
    for (auto column = begin; column != end; ++column) values[column->second] = to_number(value);
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
  std::multimap<std::string, std::size_t> columns;
  for (std::size_t i = 0; i < fields.size(); ++i) columns.emplace(fields[i], i);
  bool first = true;
  Thinner rows(flags.every);
  MessageCursor cursor = reader->messages({{flags.topic}});
  while (const auto message = cursor.next()) {
    if (!rows.takes(message->time)) continue;
    text += line(*decoder, *message, fields, columns, first);
    first = false;
    if (text.size() > (1U << 16U)) print(std::exchange(text, ""));
  }
  print(text);
  for (const Damage& damage : reader->damage()) say("note: " + to_string(damage) + "\n");
  return exit_fine;
}

/// One number of the table, and how it is read.
struct Column {
  std::string topic;
  NumberReader reader;
};

/// A row for each time; a second record of the same topic at that time begins another one.
class NamedTable {
 public:
  NamedTable(const McapReader& journal, const Names& names, const std::vector<std::string>& wanted) {
    for (const std::string& name : wanted) {
      const auto number = find_number(journal, names, name);
      if (!number)
        throw InputError({"", 0, 0}, number.error(), "`isochron journal names " + journal.name() + "` lists them");
      columns_.push_back({number->topic, names.reader(*number)});
    }
    cells_.resize(wanted.size());
  }
  [[nodiscard]] std::vector<std::string> topics() const {
    std::vector<std::string> all;
    for (const Column& column : columns_) {
      if (std::find(all.begin(), all.end(), column.topic) == all.end()) all.push_back(column.topic);
    }
    return all;
  }
  /// Told of each row when it is whole.
  using Row = std::function<void(SimTime, const std::vector<std::optional<double>>&)>;
  void add(const MessageView& message, const Row& told) {
    bool taken = false;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      taken = taken || (columns_[i].topic == message.channel->topic && cells_[i]);
    }
    if (message.time != time_ || taken) flush(told);
    time_ = message.time;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].topic == message.channel->topic) cells_[i] = columns_[i].reader.number(message.data);
    }
  }
  void flush(const Row& told) {
    if (std::ranges::any_of(cells_, [](const auto& cell) { return cell.has_value(); })) told(time_, cells_);
    std::ranges::fill(cells_, std::nullopt);
  }

 private:
  std::vector<Column> columns_;
  std::vector<std::optional<double>> cells_;
  SimTime time_;
};

McapReader open_journal(Disk& disk, const std::string& file) {
  auto reader = McapReader::open(disk, file);
  if (!reader.ok()) throw InputError({"", 0, 0}, reader.error().what, "");
  return std::move(reader).value();
}

/// All rows, in the order of time.
void each_row(const Flags& flags, const std::vector<std::string>& wanted, McapReader& reader, const Names& names,
              const NamedTable::Row& told) {
  NamedTable rows(reader, names, wanted);
  Thinner thinner(flags.every);
  const NamedTable::Row some = [&](SimTime time, const auto& cells) {
    if (thinner.takes(time)) told(time, cells);
  };
  MessageCursor cursor = reader.messages({rows.topics()});
  while (const auto message = cursor.next()) rows.add(*message, some);
  rows.flush(some);
  for (const Damage& damage : reader.damage()) say("note: " + flags.file + ": " + to_string(damage) + "\n");
}

int export_names(const Flags& flags) {
  PosixDisk disk;
  const std::vector<std::string> wanted = names_in(flags.topic);
  McapReader reader = open_journal(disk, flags.file);
  std::string text = "time_ns";
  for (const std::string& name : wanted) text += "," + name;
  text += "\n";
  each_row(flags, wanted, reader, names_of(reader), [&](SimTime time, const auto& cells) {
    text += std::to_string(time.ns());
    for (const std::optional<double>& cell : cells) text += "," + (cell ? number_text(*cell) : "");
    text += "\n";
    if (text.size() > (1U << 16U)) print(std::exchange(text, ""));
  });
  print(text);
  return exit_fine;
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file << bytes;
  if (!file.flush()) throw InputError({path, 0, 0}, "cannot be written", "choose another file");
}

/// The same numbers in a file for other tools; all that are numbers if no names are given.
int export_table(const Flags& flags) {
  PosixDisk disk;
  McapReader reader = open_journal(disk, flags.file);
  const Names names = names_of(reader);
  std::vector<std::string> wanted;
  if (!flags.topic.empty()) {
    wanted = names_in(flags.topic);
  } else {
    for (const std::string& name : names.all()) {
      if (find_number(reader, names, name).ok()) wanted.push_back(name);
    }
  }
  Table table;
  table.columns.push_back({"time_ns", TableColumn::Wholes{}});
  for (const std::string& name : wanted) table.columns.push_back({name, TableColumn::Numbers{}});
  each_row(flags, wanted, reader, names, [&](SimTime time, const auto& cells) {
    std::get<TableColumn::Wholes>(table.columns[0].cells).push_back(time.ns());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::get<TableColumn::Numbers>(table.columns[i + 1].cells).push_back(cells[i]);
    }
  });
  if (!flags.parquet.empty()) write_file(flags.parquet, parquet_of(table));
  if (!flags.hdf5.empty()) write_file(flags.hdf5, hdf5_of(table));
  say(std::to_string(table.rows()) + " rows of " + std::to_string(wanted.size()) + " numbers\n");
  return exit_fine;
}

int list_names(const std::string& file) {
  PosixDisk disk;
  McapReader reader = open_journal(disk, file);
  const Names names = names_of(reader);
  std::string text;
  for (const std::string& name : names.all()) text += name + "\n";
  print(text);
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
  CLI::App* fields =
      journal.add_subcommand("export", "numbers over time, as CSV, Parquet or HDF5; the schedule as a trace");
  fields->add_option("FILE", flags->file, "journal")->required();
  fields->add_option("NAMES", flags->topic, "as in prey.position.x,predator.position.x; `journal names` lists them")
      ->type_name("NAMES");
  fields->add_option("FIELDS", flags->fields, "then NAMES is one topic, and these are its fields: bodies[0],bodies[1]");
  fields->add_option("--every", flags->every, "rows at least so far apart, as in 100ms; all if left out");
  fields->add_flag("--csv", flags->csv, "as it is without --trace");
  fields->add_flag("--trace", flags->trace,
                   "instead of NAMES: the schedule as Chrome's trace events in JSON, for ui.perfetto.dev");
  fields->add_option("--parquet", flags->parquet, "into this file instead, for pandas and DuckDB; without NAMES all")
      ->type_name("FILE");
  fields->add_option("--hdf5", flags->hdf5, "into this file, for h5py and MATLAB: a dataset for each name")
      ->type_name("FILE");
  fields->callback([&action, flags] {
    action = [flags] {
      if (!flags->parquet.empty() || !flags->hdf5.empty()) {
        if (flags->trace || !flags->fields.empty()) {
          throw InputError({"journal export", 0, 0}, "a file for tables takes NAMES only",
                           "leave --trace and FIELDS out");
        }
        return export_table(*flags);
      }
      if (flags->trace == !flags->topic.empty()) {
        throw InputError({"journal export", 0, 0}, "needs either NAMES or --trace",
                         "`isochron journal names` lists them");
      }
      if (flags->trace) return export_trace(flags->file);
      return flags->fields.empty() ? export_names(*flags) : export_fields(*flags);
    };
  });

  auto named = std::make_shared<std::string>();
  CLI::App* names = journal.add_subcommand("names", "what the numbers in it are called, a line each");
  names->add_option("FILE", *named, "journal")->required();
  names->callback([&action, named] { action = [named] { return list_names(*named); }; });

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
