#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "bench/stages/stage.h"
#include "bench/synthetic_tables.h"
#include "residua/measure/residual_transform.h"
#include "residua/measure/true_counts.h"

namespace residua::bench {
namespace {

// The transform consumes its counts, so each run has its own; making them is not timed.
StagePoint PointOf(double x, int num_axes, int64_t size) {
  const Domain domain = EqualSizes(num_axes, size);
  AttributeSet set;
  for (int i = 0; i < num_axes; ++i) set.push_back(i);
  const auto counts =
      std::make_shared<std::vector<int64_t>>(static_cast<size_t>(NumCellsInMemory(domain, set)));
  for (size_t k = 0; k < counts->size(); ++k) (*counts)[k] = static_cast<int64_t>(k * 7919 % 1000);
  const auto copy = std::make_shared<std::vector<int64_t>>(counts->size());
  struct Transform {
    Domain domain;
    ResidualTransform apply;
    explicit Transform(const Domain& of)
        : domain(of), apply(domain, std::vector<ResidualMatrix>(static_cast<size_t>(of.size()))) {}
  };
  const auto transform = std::make_shared<const Transform>(domain);
  return {x,
          [=] {
            TrueMarginal marginal = TrueCounts::Marginal(set, *counts);
            return TimesOf([&] {
                     TrueResidual residual = transform->apply.Apply(std::move(marginal));
                     benchmark::DoNotOptimize(residual);
                   })
                .wall;
          },
          Timed([=] {
            std::copy(counts->begin(), counts->end(), copy->begin());
            benchmark::DoNotOptimize(copy->data());
          })};
}

constexpr const char* kLimit = "copying the table once";

Growth Sizes() {
  Growth growth{"transform", "cells", "tables of three attributes of 5, 10, 20, ... values",
                kLimit};
  for (const int64_t size : {5, 10, 20, 50, 100, 200}) {
    growth.points.push_back(PointOf(std::pow(static_cast<double>(size), 3), 3, size));
  }
  return growth;
}

Growth Axes() {
  Growth growth{"transform", "attributes of the table", "4 values each", kLimit};
  for (int num_axes = 1; num_axes <= 11; num_axes += 2) {
    growth.points.push_back(PointOf(num_axes, num_axes, 4));
  }
  return growth;
}

}  // namespace

std::vector<MakeGrowth> TransformGrowths() { return {Sizes, Axes}; }

}  // namespace residua::bench
