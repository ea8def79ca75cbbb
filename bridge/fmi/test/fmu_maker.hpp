#pragma once
// FMUs for tests: a model description written by the test around the binary of kit2.c or kit3.c, and zipped.

#include <unistd.h>
#include <zip.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace isochron::fmi::test {

struct File {
  std::string name, content;
};

inline std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_zip(const std::string& path, const std::vector<File>& files) {
  int code = 0;
  zip_t* zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  for (const File& file : files) {
    void* copy = std::malloc(file.content.size() + 1);
    std::copy(file.content.begin(), file.content.end(), static_cast<char*>(copy));
    zip_file_add(zip, file.name.c_str(), zip_source_buffer(zip, copy, file.content.size(), 1), ZIP_FL_ENC_UTF_8);
  }
  if (zip == nullptr || zip_close(zip) != 0) throw std::runtime_error("cannot write " + path);
}

inline const std::string step_flags = "canHandleVariableCommunicationStepSize='true'";

inline std::string description2(const std::string& variables, const std::string& flags = step_flags,
                                const std::string& before = "") {
  return "<?xml version='1.0'?>\n<fmiModelDescription fmiVersion='2.0' modelName='Kit' guid='{kit}'>\n"
         "<CoSimulation modelIdentifier='kit' " +
         flags + "/>\n" + before + "<ModelVariables>\n" + variables +
         "</ModelVariables>\n<ModelStructure/>\n</fmiModelDescription>\n";
}
inline std::string description3(const std::string& variables, const std::string& flags = step_flags,
                                const std::string& before = "") {
  return "<?xml version='1.0'?>\n<fmiModelDescription fmiVersion='3.0' modelName='Kit' instantiationToken='{kit}'>\n"
         "<CoSimulation modelIdentifier='kit' " +
         flags + "/>\n" + before + "<ModelVariables>\n" + variables +
         "</ModelVariables>\n<ModelStructure/>\n</fmiModelDescription>\n";
}

inline const std::string angles =
    "<UnitDefinitions><Unit name='rad'><BaseUnit rad='1'/></Unit>"
    "<Unit name='deg'><BaseUnit rad='1' factor='0.017453292519943295'/></Unit>"
    "<Unit name='m'><BaseUnit m='1'/></Unit></UnitDefinitions>\n";

/// Variables of kit2.c.
inline const std::string gain2 =
    "<ScalarVariable name='u' valueReference='0' causality='input'><Real start='0' unit='rad'/></ScalarVariable>\n"
    "<ScalarVariable name='y' valueReference='1' causality='output'><Real unit='rad'/></ScalarVariable>\n"
    "<ScalarVariable name='k' valueReference='2' causality='parameter' variability='fixed'><Real start='1'/>"
    "</ScalarVariable>\n";
inline const std::string ball2 =
    "<ScalarVariable name='h' valueReference='3' causality='output' initial='exact'><Real start='1' unit='m'/>"
    "</ScalarVariable>\n"
    "<ScalarVariable name='der(h)' valueReference='4' causality='output' initial='exact'><Real start='0'/>"
    "</ScalarVariable>\n"
    "<ScalarVariable name='g' valueReference='5' causality='parameter' variability='fixed'><Real start='-9.81'/>"
    "</ScalarVariable>\n"
    "<ScalarVariable name='bounces' valueReference='3' causality='output' variability='discrete'><Integer/>"
    "</ScalarVariable>\n";
inline const std::string stiff2 =
    "<ScalarVariable name='x' valueReference='7' causality='output'><Real/></ScalarVariable>\n"
    "<ScalarVariable name='lambda' valueReference='8' causality='parameter' variability='tunable'>"
    "<Real start='1000'/></ScalarVariable>\n";
inline const std::string trouble2 =
    "<ScalarVariable name='trouble' valueReference='2' causality='parameter' variability='fixed'>"
    "<Integer start='0'/></ScalarVariable>\n";
inline const std::string types2 =
    "<ScalarVariable name='n_in' valueReference='0' causality='input' variability='discrete'><Integer start='0'/>"
    "</ScalarVariable>\n"
    "<ScalarVariable name='n_out' valueReference='1' causality='output' variability='discrete'><Integer/>"
    "</ScalarVariable>\n"
    "<ScalarVariable name='b_in' valueReference='0' causality='input' variability='discrete'><Boolean start='false'/>"
    "</ScalarVariable>\n"
    "<ScalarVariable name='b_out' valueReference='1' causality='output' variability='discrete'><Boolean/>"
    "</ScalarVariable>\n"
    "<ScalarVariable name='s_in' valueReference='0' causality='input' variability='discrete'><String start=''/>"
    "</ScalarVariable>\n"
    "<ScalarVariable name='s_out' valueReference='1' causality='output' variability='discrete'><String/>"
    "</ScalarVariable>\n";

/// Variables of kit3.c.
inline const std::string gain3 =
    "<Float64 name='u' valueReference='1' causality='input' start='0' unit='deg'/>\n"
    "<Float64 name='y' valueReference='2' causality='output' unit='deg'/>\n"
    "<Float64 name='k' valueReference='3' causality='parameter' variability='fixed' start='1'/>\n";
inline const std::string ball3 =
    "<Float64 name='h' valueReference='4' causality='output' initial='exact' start='1'/>\n"
    "<Float64 name='v' valueReference='5' causality='output' initial='exact' start='0'/>\n"
    "<Int32 name='ticks' valueReference='8' causality='output' variability='discrete'/>\n"
    "<Int32 name='bounces' valueReference='9' causality='output' variability='discrete'/>\n";
inline const std::string gain3_inside =
    "<Float64 name='u' valueReference='1' causality='input' start='0'/>\n"
    "<Float64 name='y' valueReference='2' causality='output' intermediateUpdate='true'/>\n"
    "<Float64 name='h' valueReference='4' causality='output' initial='exact' start='1'/>\n";
inline const std::string sampler3 =
    "<Clock name='sample' valueReference='40' causality='input' variability='discrete' intervalVariability='constant' "
    "intervalDecimal='0.004' shiftDecimal='0.002'/>\n"
    "<Clock name='reset' valueReference='41' causality='input' variability='discrete' "
    "intervalVariability='triggered'/>\n"
    "<Clock name='full' valueReference='42' causality='output' variability='discrete' "
    "intervalVariability='triggered'/>\n"
    "<Float64 name='in' valueReference='43' causality='input' variability='discrete' clocks='40' start='0'/>\n"
    "<Float64 name='taken' valueReference='44' causality='output' variability='discrete' clocks='40'/>\n"
    "<Int32 name='samples' valueReference='45' causality='output' variability='discrete'/>\n";
inline const std::string array3 =
    "<UInt64 name='n' valueReference='10' causality='structuralParameter' variability='fixed' start='2'/>\n"
    "<Float64 name='a' valueReference='11' causality='input' start='0 0'><Dimension valueReference='10'/></Float64>\n"
    "<Float64 name='b' valueReference='12' causality='output'><Dimension valueReference='10'/></Float64>\n";

/// The same for model exchange: three states and one event indicator in kit2.c, two and one in kit3.c.
inline std::string exchange(std::string description) {
  const auto swap = [&](const std::string& from, const std::string& to) {
    if (const auto at = description.find(from); at != std::string::npos) description.replace(at, from.size(), to);
  };
  swap("<CoSimulation", "<ModelExchange");
  swap("fmiVersion='2.0'", "fmiVersion='2.0' numberOfEventIndicators='1'");
  swap("<ModelStructure/>",
       "<ModelStructure><Derivatives><Unknown index='1'/><Unknown index='2'/><Unknown index='3'/>"
       "</Derivatives></ModelStructure>");
  return description;
}

/// Every type of FMI 3, passed through: NAME_in, NAME_out.
inline std::string types3() {
  std::string all;
  for (const char* type : {"Float32", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64",
                           "Boolean", "String", "Binary"}) {
    const std::string head = std::string("<") + type + " variability='discrete' name='" + type;
    all += head + "_in' valueReference='20' causality='input'/>\n" + head +
           "_out' valueReference='21' causality='output'/>\n";
  }
  return all;
}

/// A folder for one test, and FMUs in it.
class Workshop {
 public:
  Workshop() {
    std::string name = (std::filesystem::temp_directory_path() / "isochron_fmi_test_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for tests");
    folder_ = name;
  }
  ~Workshop() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] const std::string& folder() const { return folder_; }

  std::string zip(const std::string& name, const std::vector<File>& files) const {
    write_zip(path(name), files);
    return path(name);
  }
  std::string fmu2(const std::string& name, const std::string& description) const {
    return zip(name, {{"modelDescription.xml", description}, {"binaries/linux64/kit.so", content_of(FMI_KIT2)}});
  }
  std::string fmu3(const std::string& name, const std::string& description) const {
    return zip(name, {{"modelDescription.xml", description}, {"binaries/x86_64-linux/kit.so", content_of(FMI_KIT3)}});
  }

 private:
  std::string folder_;
};

}  // namespace isochron::fmi::test
