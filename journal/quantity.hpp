#pragma once
// What kind of thing a named number of a journal is. Times are in seconds wherever they are numbers.

namespace isochron {

enum class Quantity { number, time, truth, text };

}  // namespace isochron
