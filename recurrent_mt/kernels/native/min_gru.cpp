// The minimal gated recurrent unit over packed rows, forward and backward: see recurrent_mt/kernels/min_gru.py.
#include <torch/library.h>

#include <algorithm>
#include <tuple>

#include "min_gru_step.h"
#include "recurrence.h"

namespace recurrent_mt {
namespace {

using at::Tensor;

/// The arguments of both directions, checked.
struct Arguments {
  int64_t size;
  std::vector<Position> steps;
  Tensor inputs, initial;  // (N, 2H), (B, H)

  Arguments(const Tensor& rows, const Tensor& first_states, at::IntArrayRef counts)
      : size(width_of(first_states)), steps(positions(counts)) {
    check_counts(counts, first_states.size(0));
    const auto number = first_states.scalar_type();
    inputs = checked("inputs", rows, {this->rows(), 2 * size}, number);
    initial = checked("initial", first_states, first_states.sizes(), number);
  }

  int64_t rows() const { return steps.back().first + steps.back().count; }
  int64_t sentences() const { return steps.front().count; }
};

template <typename T>
Tensor run(const Arguments& given) {
  const int64_t size = given.size;
  Tensor states = uninitialized({given.rows(), size}, number_of<T>());
  const Rows<const T> x = rows_of<T>(given.inputs);
  const States<T> in_time{rows_of<T>(given.initial), rows_of<T>(states), &given.steps};
  for_rows(given.sentences(), 3 * size * given.steps.size(), [&](int64_t begin, int64_t end) {
    for (const Position& step : given.steps)
      min_gru_step<T>(x.part(step.first, step.count), in_time.entering(step), in_time.state(step), begin,
                      std::min(end, step.count), size);
  });
  return states;
}

template <typename T>
std::tuple<Tensor, Tensor> run_backward(const Arguments& given, const Tensor& grad_states, const Tensor& states) {
  const int64_t size = given.size;
  Tensor grad_inputs = uninitialized({given.rows(), 2 * size}, number_of<T>()),
         grad_initial = zeros(given.initial.sizes(), number_of<T>());
  const Rows<const T> x = rows_of<T>(given.inputs), grad = rows_of<T>(grad_states);
  const Rows<T> grad_x = rows_of<T>(grad_inputs), carry = rows_of<T>(grad_initial);
  const States<T> in_time{rows_of<T>(given.initial), rows_of<T>(states), &given.steps};
  for_rows(given.sentences(), 6 * size * given.steps.size(), [&](int64_t begin, int64_t end) {
    for (auto step = given.steps.rbegin(); step != given.steps.rend(); ++step) {
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
  const Arguments given(inputs, initial, counts);
  return in_format("initial", initial.scalar_type(), [&](auto zero) { return run<decltype(zero)>(given); });
}

std::tuple<Tensor, Tensor> min_gru_backward(const Tensor& grad_states, const Tensor& inputs, const Tensor& initial,
                                            const Tensor& states, at::IntArrayRef counts) {
  const Arguments given(inputs, initial, counts);
  const auto number = initial.scalar_type();
  const Tensor grad = checked("grad_states", grad_states, {given.rows(), given.size}, number),
               after = checked("states", states, {given.rows(), given.size}, number);
  return in_format("initial", number, [&](auto zero) { return run_backward<decltype(zero)>(given, grad, after); });
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(recurrent_mt, library) {
  library.def("min_gru(Tensor inputs, Tensor initial, int[] counts) -> Tensor");
  library.def(
      "min_gru_backward(Tensor grad_states, Tensor inputs, Tensor initial, Tensor states, int[] counts) "
      "-> (Tensor, Tensor)");
}

TORCH_LIBRARY_IMPL(recurrent_mt, CPU, library) {
  library.impl("min_gru", &min_gru);
  library.impl("min_gru_backward", &min_gru_backward);
}

}  // namespace recurrent_mt
