#pragma once
// Programs in Python that we start find the package `isochron` and its library without being told where they are.

namespace isochron::app {

/// Adds our package at the end of PYTHONPATH, behind everything the user has there, and names the library in
/// ISOCHRON_CLIENT unless it is named. Requires: before any thread is started.
void offer_python_package();

}  // namespace isochron::app
