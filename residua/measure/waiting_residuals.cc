#include "residua/measure/waiting_residuals.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "residua/base/error.h"

namespace residua {
namespace {

int64_t NumBytes(const NoisyValues& values) {
  return std::visit(
      [](const auto& of_width) {
        return static_cast<int64_t>(of_width.size() * sizeof(of_width.front()));
      },
      values);
}

}  // namespace

WaitingResiduals::WaitingResiduals(std::vector<AttributeSet> sets, const WaitingOptions& options,
                                   const std::function<void(NoisyResidual&&)>& visit,
                                   LargeSets large)
    : sets_(std::move(sets)), options_(options), visit_(visit), large_(std::move(large)) {}

size_t WaitingResiduals::TurnOf(const AttributeSet& set) const {
  const auto found = std::lower_bound(sets_.begin(), sets_.end(), set, ListedBefore);
  RESIDUA_CHECK(found != sets_.end() && *found == set);
  return static_cast<size_t>(found - sets_.begin());
}

void WaitingResiduals::Add(NoisyResidual&& residual) {
  const size_t turn = TurnOf(residual.attributes);
  RESIDUA_CHECK(turn >= next_ && !waiting_.contains(turn));
  const int64_t num_bytes = NumBytes(residual.values);
  if (turn == next_) {
    visit_(std::move(residual));
    ++next_;
  } else if (num_bytes <= options_.memory_bytes - bytes_in_memory_) {
    bytes_in_memory_ += num_bytes;
    waiting_.emplace(turn, std::move(residual));
  } else {
    waiting_.emplace(turn, File(std::move(residual)));
  }
  PassOn();
}

void WaitingResiduals::PassOn() {
  for (; next_ < sets_.size(); ++next_) {
    if (next_large_ < large_.sets.size() && large_.sets[next_large_] == sets_[next_]) {
      large_.measure(large_.sets[next_large_++]);
    } else if (!waiting_.empty() && waiting_.begin()->first == next_) {
      visit_(Take(sets_[next_], std::move(waiting_.begin()->second)));
      waiting_.erase(waiting_.begin());
    } else {
      return;
    }
  }
}

WaitingResiduals::Filed WaitingResiduals::File(NoisyResidual&& residual) {
  if (file_ == nullptr) file_ = std::make_unique<NamelessFile>(options_.folder);
  return std::visit(
      [&](const auto& values) -> Filed {
        using Value = typename std::decay_t<decltype(values)>::value_type;
        return {file_->Append(values.data(), values.size() * sizeof(Value)), values.size(),
                std::is_same_v<Value, Int128>, std::move(residual.noise_variance),
                residual.scale_bits};
      },
      residual.values);
}

NoisyResidual WaitingResiduals::Take(const AttributeSet& set, Waiting&& waiting) {
  if (auto* residual = std::get_if<NoisyResidual>(&waiting)) {
    bytes_in_memory_ -= NumBytes(residual->values);
    return std::move(*residual);
  }
  auto& filed = std::get<Filed>(waiting);
  const auto read = [&](auto values) -> NoisyValues {
    values.resize(filed.num_values);
    file_->Read(filed.at, values.data(), values.size() * sizeof(values.front()));
    return values;
  };
  return {set, filed.is_wide ? read(std::vector<Int128>()) : read(std::vector<int64_t>()),
          std::move(filed.noise_variance), filed.scale_bits};
}

}  // namespace residua
