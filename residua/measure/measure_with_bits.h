#pragma once

#include <functional>

#include "residua/measure/measure.h"
#include "residua/noise/bit_source.h"

namespace residua {

// The random bits of the calling thread.
using BitsOfThread = std::function<BitSource&()>;

// `Measure` with other random bits than the operating system's. Noise that can be repeated protects
// nobody: included by measure/ and by tests, by nothing else, and not installed.
void MeasureWithBits(const MeasurablePlan& plan, const EncodedTable& table,
                     const MeasureOptions& options, const BitsOfThread& bits_of_thread,
                     const std::function<void(NoisyResidual&&)>& visit);
void MeasureWithBits(const MeasurablePlan& plan, CountedRows&& rows, const MeasureOptions& options,
                     const BitsOfThread& bits_of_thread, const MeasuredVisitor& visitor);

}  // namespace residua
