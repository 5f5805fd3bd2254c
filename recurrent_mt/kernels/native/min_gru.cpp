// The minimal gated recurrent unit over packed rows, forward and backward: see recurrent_mt/kernels/min_gru.py.
#include <torch/library.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "min_gru_step.h"
#include "recurrence.h"

namespace recurrent_mt {
namespace {

using at::Tensor;
using std::optional;

/// What joins the inputs of a step's rows.
template <typename T>
Shift<T> shift_of(const optional<Tensor>& shift, Rows<const T> inputs, const std::vector<Position>& steps,
                  const Position& step) {
  if (!shift || !step.number) return {};
  return {shift->const_data_ptr<T>(), inputs.part(steps[step.number - 1].first, step.count)};
}

template <typename T>
Tensor run(const Tensor& inputs, const Tensor& initial, const optional<Tensor>& shift,
           const std::vector<Position>& steps) {
  const int64_t size = initial.size(1);
  Tensor states = uninitialized({inputs.size(0), size}, number_of<T>());
  const Rows<const T> x = rows_of<T>(inputs);
  const States<T> in_time{rows_of<T>(initial), rows_of<T>(states), &steps};
  for_rows(steps.front().count, 3 * size * steps.size(), [&](int64_t begin, int64_t end) {
    for (const Position& step : steps)
      min_gru_step<T>(x.part(step.first, step.count), in_time.entering(step), in_time.state(step), begin,
                      std::min(end, step.count), size, shift_of<T>(shift, x, steps, step));
  });
  return states;
}

/// From the gradients of joined inputs, those of the inputs themselves, and of the weights, for each sentence (B, 2H).
///
/// From the first step to the last: a row still has its own gradient when the row before takes its part of it.
template <typename T>
void shift_backward(const T* weights, Rows<const T> inputs, const std::vector<Position>& steps, int64_t begin,
                    int64_t end, Rows<T> grads, Rows<T> grad_weights) {
  for (size_t step = 1; step < steps.size(); step++) {
    const int64_t before = steps[step - 1].first, now = steps[step].first, last = std::min(end, steps[step].count);
    vectorized([=, size = inputs.stride]() INLINE_LAMBDA {
      for (int64_t row = begin; row < last; row++) {
        const T *x = inputs[before + row], *grad = grads[now + row];
        T *const to = grads[before + row], *const sum = grad_weights[row];
#pragma omp simd
        for (int64_t i = 0; i < size; i++) {
          to[i] += weights[i] * grad[i];
          sum[i] += x[i] * grad[i];
        }
      }
    });
  }
}

/// The gradients of inputs, first states, and, with a shift, of its weights.
template <typename T>
std::tuple<Tensor, Tensor, optional<Tensor>> run_backward(const Tensor& grad_states, const Tensor& inputs,
                                                          const Tensor& initial, const optional<Tensor>& shift,
                                                          const Tensor& states, const std::vector<Position>& steps) {
  const int64_t size = initial.size(1);
  optional<Tensor> grad_shift;
  if (shift) grad_shift = zeros({initial.size(0), 2 * size}, number_of<T>());
  const Rows<T> grad_weights = shift ? rows_of<T>(*grad_shift) : Rows<T>{};
  Tensor grad_inputs = uninitialized(inputs.sizes(), number_of<T>()),
         grad_initial = zeros(initial.sizes(), number_of<T>());
  const Rows<const T> x = rows_of<T>(inputs), grad = rows_of<T>(grad_states);
  const Rows<T> grad_x = rows_of<T>(grad_inputs), carry = rows_of<T>(grad_initial);
  const States<T> in_time{rows_of<T>(initial), rows_of<T>(states), &steps};
  for_rows(steps.front().count, 6 * size * steps.size(), [&](int64_t begin, int64_t end) {
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      const auto part = [&](auto rows) { return rows.part(step->first, step->count); };
      vectorized([=, entering = Rows<const T>(in_time.entering(*step)), inputs = part(x), grads = part(grad),
                  grad_rows = part(grad_x), last = std::min(end, step->count),
                  joined = shift_of<T>(shift, x, steps, *step)]() INLINE_LAMBDA {
        for (int64_t row = begin; row < last; row++) {
          const T *in = inputs[row], *h = entering[row], *from_outside = grads[row];
          const T* const earlier = joined ? joined.before[row] : nullptr;
          T *const out = grad_rows[row], *const sum = carry[row];
          const auto write = [=](int64_t i, T gate, T candidate) INLINE_LAMBDA {
            const T z = sigmoid(gate), g = from_outside[i] + sum[i], to_candidate = g * z;
            out[size + i] = to_candidate;
            out[i] = to_candidate * (T(1) - z) * (candidate - h[i]);
            sum[i] = g - to_candidate;
          };
          if (earlier) {
#pragma omp simd
            for (int64_t i = 0; i < size; i++)
              write(i, joined.join(in, earlier, i), joined.join(in, earlier, size + i));
          } else {
#pragma omp simd
            for (int64_t i = 0; i < size; i++) write(i, in[i], in[size + i]);
          }
        }
      });
    }
    if (shift) shift_backward<T>(shift->const_data_ptr<T>(), x, steps, begin, end, grad_x, grad_weights);
  });
  return {grad_inputs, grad_initial, grad_shift ? optional<Tensor>(grad_shift->sum(0)) : std::nullopt};
}

Tensor min_gru(const Tensor& inputs, const Tensor& initial, const optional<Tensor>& shift, at::IntArrayRef counts) {
  return in_format(initial.scalar_type(), [&](auto zero) {
    return run<decltype(zero)>(inputs.contiguous(), initial.contiguous(), shift, positions(counts));
  });
}

std::tuple<Tensor, Tensor, optional<Tensor>> min_gru_backward(const Tensor& grad_states, const Tensor& inputs,
                                                              const Tensor& initial, const optional<Tensor>& shift,
                                                              const Tensor& states, at::IntArrayRef counts) {
  return in_format(initial.scalar_type(), [&](auto zero) {
    return run_backward<decltype(zero)>(grad_states.contiguous(), inputs.contiguous(), initial.contiguous(), shift,
                                        states, positions(counts));
  });
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(recurrent_mt, library) {
  library.def("min_gru(Tensor inputs, Tensor initial, Tensor? shift, int[] counts) -> Tensor",
              torch::dispatch(at::kCPU, &min_gru));
  library.def(
      "min_gru_backward(Tensor grad_states, Tensor inputs, Tensor initial, Tensor? shift, Tensor states, int[] counts) "
      "-> (Tensor, Tensor, Tensor?)",
      torch::dispatch(at::kCPU, &min_gru_backward));
}

}  // namespace recurrent_mt
