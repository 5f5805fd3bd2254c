// The minimal gated recurrent unit over packed rows, forward and backward: see recurrent_mt/kernels/min_gru.py.
#include <torch/library.h>

#include <algorithm>
#include <tuple>

#include "min_gru_step.h"
#include "recurrence.h"

namespace recurrent_mt {
namespace {

using at::Tensor;

template <typename T>
Tensor run(const Tensor& inputs, const Tensor& initial, const std::vector<Position>& steps) {
  const int64_t size = initial.size(1);
  Tensor states = uninitialized({inputs.size(0), size}, number_of<T>());
  const Rows<const T> x = rows_of<T>(inputs);
  const States<T> in_time{rows_of<T>(initial), rows_of<T>(states), &steps};
  for_rows(steps.front().count, 3 * size * steps.size(), [&](int64_t begin, int64_t end) {
    for (const Position& step : steps)
      min_gru_step<T>(x.part(step.first, step.count), in_time.entering(step), in_time.state(step), begin,
                      std::min(end, step.count), size);
  });
  return states;
}

template <typename T>
std::tuple<Tensor, Tensor> run_backward(const Tensor& grad_states, const Tensor& inputs, const Tensor& initial,
                                        const Tensor& states, const std::vector<Position>& steps) {
  const int64_t size = initial.size(1);
  Tensor grad_inputs = uninitialized(inputs.sizes(), number_of<T>()),
         grad_initial = zeros(initial.sizes(), number_of<T>());
  const Rows<const T> x = rows_of<T>(inputs), grad = rows_of<T>(grad_states);
  const Rows<T> grad_x = rows_of<T>(grad_inputs), carry = rows_of<T>(grad_initial);
  const States<T> in_time{rows_of<T>(initial), rows_of<T>(states), &steps};
  for_rows(steps.front().count, 6 * size * steps.size(), [&](int64_t begin, int64_t end) {
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      const auto part = [&](auto rows) { return rows.part(step->first, step->count); };
      vectorized([=, entering = Rows<const T>(in_time.entering(*step)), inputs = part(x), grads = part(grad),
                  grad_rows = part(grad_x), last = std::min(end, step->count)]() INLINE_LAMBDA {
        for (int64_t row = begin; row < last; row++) {
          const T *gate = inputs[row], *candidate = gate + size, *h = entering[row], *from_outside = grads[row];
          T *const grad_gate = grad_rows[row], *const grad_candidate = grad_gate + size, *const sum = carry[row];
#pragma omp simd
          for (int64_t i = 0; i < size; i++) {
            const T z = sigmoid(gate[i]), g = from_outside[i] + sum[i], to_candidate = g * z;
            grad_candidate[i] = to_candidate;
            grad_gate[i] = to_candidate * (T(1) - z) * (candidate[i] - h[i]);
            sum[i] = g - to_candidate;
          }
        }
      });
    }
  });
  return {grad_inputs, grad_initial};
}

Tensor min_gru(const Tensor& inputs, const Tensor& initial, at::IntArrayRef counts) {
  return in_format(initial.scalar_type(), [&](auto zero) {
    return run<decltype(zero)>(inputs.contiguous(), initial.contiguous(), positions(counts));
  });
}

std::tuple<Tensor, Tensor> min_gru_backward(const Tensor& grad_states, const Tensor& inputs, const Tensor& initial,
                                            const Tensor& states, at::IntArrayRef counts) {
  return in_format(initial.scalar_type(), [&](auto zero) {
    return run_backward<decltype(zero)>(grad_states.contiguous(), inputs.contiguous(), initial.contiguous(), states,
                                        positions(counts));
  });
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(recurrent_mt, library) {
  library.def("min_gru(Tensor inputs, Tensor initial, int[] counts) -> Tensor", torch::dispatch(at::kCPU, &min_gru));
  library.def(
      "min_gru_backward(Tensor grad_states, Tensor inputs, Tensor initial, Tensor states, int[] counts) "
      "-> (Tensor, Tensor)",
      torch::dispatch(at::kCPU, &min_gru_backward));
}

}  // namespace recurrent_mt
