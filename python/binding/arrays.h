#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <Eigen/Core>
#include <cstdint>
#include <utility>
#include <vector>

namespace residua::python {

template <typename Value>
using NumpyArray = nanobind::ndarray<nanobind::numpy, Value>;

// Hands the numbers to numpy, which frees them.
template <typename Value>
NumpyArray<Value> ToNumpy(std::vector<Value> values, const std::vector<size_t>& shape) {
  auto* kept = new std::vector<Value>(std::move(values));
  const nanobind::capsule owner(
      kept, [](void* pointer) noexcept { delete static_cast<std::vector<Value>*>(pointer); });
  return NumpyArray<Value>(kept->data(), shape.size(), shape.data(), owner);
}

template <typename Value>
NumpyArray<Value> ToNumpy(std::vector<Value> values) {
  const size_t size = values.size();
  return ToNumpy(std::move(values), {size});
}

inline NumpyArray<double> ToNumpy(const Eigen::MatrixXd& matrix) {
  std::vector<double> values(static_cast<size_t>(matrix.size()));
  Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      values.data(), matrix.rows(), matrix.cols()) = matrix;
  return ToNumpy(std::move(values),
                 {static_cast<size_t>(matrix.rows()), static_cast<size_t>(matrix.cols())});
}

}  // namespace residua::python
