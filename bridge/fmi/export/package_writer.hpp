#pragma once
// Makes an FMU of a scenario: a model description for FMI 2.0 or 3.0, the binary (fmu_binary.c), and the scenario with
// its files among the resources.
//
// Fails: InputError where the file cannot be written.

#include <cstdint>
#include <string>
#include <vector>

#include "bridge/fmi/description.hpp"

namespace isochron::fmi {

struct ExportedVariable {
  std::string name;
  std::string about;
  double start = 0;
};

struct Export {
  Version version = Version::fmi3;
  std::string name;  // of the model; letters, digits and _ make its identifier
  std::int64_t step_ns = 10'000'000;
  double stop = 10;  // s, of its default experiment
  std::vector<ExportedVariable> inputs, outputs;
  std::string binary;             // fmu_binary.so
  std::string command, scenario;  // the command that serves it, and the scenario below resources/
  struct File {
    std::string path, name;  // here, and below resources/
  };
  std::vector<File> files;
};

std::string model_description(const Export& what);
/// What lies in resources/isochron: the command, the scenario, the step in ns, then `in NAME` and `out NAME`.
std::string served_text(const Export& what);
void write_package(const Export& what, const std::string& file);

}  // namespace isochron::fmi
