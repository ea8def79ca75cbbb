#include "bridge/fmi/export/package_writer.hpp"

#include <zip.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "bridge/fmi/package.hpp"
#include "core/input_error.hpp"
#include "core/markup.hpp"

namespace isochron::fmi {
namespace {

std::string number(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string escaped(const std::string& text) { return xml_markup(text, ' '); }

std::string identifier(const std::string& name) {
  std::string made;
  for (const char c : name) {
    const bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    made += good ? c : '_';
  }
  if (made.empty() || (made[0] >= '0' && made[0] <= '9')) made.insert(0, "_");
  return made;
}

/// Of the whole interface: a binary and a description that do not belong together are found out.
std::string token(const Export& what) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  const auto add = [&](const std::string& text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  };
  add(what.name);
  for (const ExportedVariable& variable : what.inputs) add(variable.name + ";");
  for (const ExportedVariable& variable : what.outputs) add(variable.name + ",");
  char text[17];
  const auto end = std::to_chars(text, text + 16, hash, 16).ptr;
  return "{isochron-" + std::string(text, end) + "}";
}

/// Up to the variables.
std::string description_head(const Export& what, const std::string& version, const std::string& token_name) {
  return "<fmiModelDescription fmiVersion=\"" + version + "\" modelName=\"" + escaped(what.name) + "\" " + token_name +
         "=\"" + token(what) +
         "\" generationTool=\"Isochron\" variableNamingConvention=\"flat\">\n  <CoSimulation modelIdentifier=\"" +
         identifier(what.name) +
         "\" needsExecutionTool=\"true\" canHandleVariableCommunicationStepSize=\"true\"/>\n  "
         "<DefaultExperiment startTime=\"0\" stopTime=\"" +
         number(what.stop) + "\" stepSize=\"" + number(static_cast<double>(what.step_ns) * 1e-9) +
         "\"/>\n  <ModelVariables>\n";
}

std::string description2(const Export& what) {
  std::string text = description_head(what, "2.0", "guid");
  std::size_t reference = 0;
  text +=
      "    <ScalarVariable name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\">"
      "<Real/></ScalarVariable>\n";
  const auto variable = [&](const ExportedVariable& v, const char* causality, const std::string& start) {
    text += "    <ScalarVariable name=\"" + escaped(v.name) + "\" valueReference=\"" + std::to_string(++reference) +
            "\" causality=\"" + causality + "\" variability=\"continuous\" description=\"" + escaped(v.about) +
            "\"><Real" + start + "/></ScalarVariable>\n";
  };
  for (const ExportedVariable& v : what.inputs) variable(v, "input", " start=\"" + number(v.start) + "\"");
  for (const ExportedVariable& v : what.outputs) variable(v, "output", "");
  std::string unknowns;
  for (std::size_t i = 0; i < what.outputs.size(); ++i) {
    unknowns += "<Unknown index=\"" + std::to_string(what.inputs.size() + i + 2) + "\"/>";
  }
  text += "  </ModelVariables>\n  <ModelStructure>";
  if (!unknowns.empty()) {
    text += "<Outputs>" + unknowns + "</Outputs><InitialUnknowns>" + unknowns + "</InitialUnknowns>";
  }
  return text + "</ModelStructure>\n</fmiModelDescription>\n";
}

std::string description3(const Export& what) {
  std::string text = description_head(what, "3.0", "instantiationToken");
  std::size_t reference = 0;
  text += "    <Float64 name=\"time\" valueReference=\"0\" causality=\"independent\" variability=\"continuous\"/>\n";
  const auto variable = [&](const ExportedVariable& v, const char* causality, const std::string& start) {
    text += "    <Float64 name=\"" + escaped(v.name) + "\" valueReference=\"" + std::to_string(++reference) +
            "\" causality=\"" + causality + "\" variability=\"continuous\" description=\"" + escaped(v.about) + "\"" +
            start + "/>\n";
  };
  for (const ExportedVariable& v : what.inputs) variable(v, "input", " start=\"" + number(v.start) + "\"");
  for (const ExportedVariable& v : what.outputs) variable(v, "output", "");
  text += "  </ModelVariables>\n  <ModelStructure>\n";
  for (const char* kind : {"Output", "InitialUnknown"}) {
    for (std::size_t i = 0; i < what.outputs.size(); ++i) {
      text +=
          std::string("    <") + kind + " valueReference=\"" + std::to_string(what.inputs.size() + i + 1) + "\"/>\n";
    }
  }
  return text + "  </ModelStructure>\n</fmiModelDescription>\n";
}

class Zip {
 public:
  explicit Zip(const std::string& file) : file_(file) {
    int code = 0;
    zip_ = zip_open(file.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (zip_ == nullptr) throw InputError({file, 0, 0}, "cannot be written");
  }
  ~Zip() {
    if (zip_ != nullptr) zip_discard(zip_);
  }
  Zip(const Zip&) = delete;
  Zip& operator=(const Zip&) = delete;

  void add_text(const std::string& name, const std::string& content) {
    void* copy = std::malloc(content.size() + 1);
    if (copy == nullptr) throw std::bad_alloc();
    std::memcpy(copy, content.data(), content.size());
    add(name, zip_source_buffer(zip_, copy, content.size(), 1));
  }
  void add_file(const std::string& name, const std::string& path) {
    add(name, zip_source_file(zip_, path.c_str(), 0, -1));
  }
  void close() {
    if (zip_close(zip_) != 0) throw InputError({file_, 0, 0}, std::string("cannot be written: ") + zip_strerror(zip_));
    zip_ = nullptr;
  }

 private:
  void add(const std::string& name, zip_source_t* source) {
    if (source != nullptr && zip_file_add(zip_, name.c_str(), source, ZIP_FL_ENC_UTF_8) >= 0) return;
    if (source != nullptr) zip_source_free(source);
    throw InputError({file_, 0, 0}, "`" + name + "` cannot be put into it");
  }
  std::string file_;
  zip_t* zip_ = nullptr;
};

}  // namespace

std::string model_description(const Export& what) {
  const std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  return head + (what.version == Version::fmi2 ? description2(what) : description3(what));
}

std::string served_text(const Export& what) {
  std::string text = what.command + "\n" + what.scenario + "\n" + std::to_string(what.step_ns) + "\n";
  for (const ExportedVariable& input : what.inputs) text += "in " + input.name + "\n";
  for (const ExportedVariable& output : what.outputs) text += "out " + output.name + "\n";
  return text;
}

void write_package(const Export& what, const std::string& file) {
  Zip zip(file);
  zip.add_text("modelDescription.xml", model_description(what));
  zip.add_file("binaries/" + platform_here(what.version) + "/" + identifier(what.name) + ".so", what.binary);
  zip.add_text("resources/isochron", served_text(what));
  for (const Export::File& from : what.files) zip.add_file("resources/" + from.name, from.path);
  zip.close();
}

}  // namespace isochron::fmi
