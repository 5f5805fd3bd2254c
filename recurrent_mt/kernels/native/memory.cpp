#include "memory.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/accumulate.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

namespace recurrent_mt {
namespace {

constexpr size_t MOST_KEPT = size_t(1) << 28;  // bytes that wait for their next use

/// Blocks of memory, by size. It is never destroyed: tensors may outlive everything else.
class Pool {
 public:
  /// A block of at least this size and at most twice that.
  std::pair<void*, size_t> take(size_t size) {
    const std::lock_guard<std::mutex> guard(mutex_);
    const auto found = free_.lower_bound(size);
    if (found == free_.end() || found->first > 2 * size) return {c10::alloc_cpu(size), size};
    const auto [kept, block] = *found;
    free_.erase(found);
    total_ -= kept;
    return {block, kept};
  }

  void give_back(void* block, size_t size) {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (total_ + size > MOST_KEPT) return c10::free_cpu(block);
    free_.emplace(size, block);
    total_ += size;
  }

 private:
  std::mutex mutex_;
  std::multimap<size_t, void*> free_;
  size_t total_ = 0;
};

Pool& pool() {
  static Pool* const only = new Pool;
  return *only;
}

}  // namespace

#if defined(__SANITIZE_ADDRESS__)

/// Blocks of exactly the size asked for, each used once, where AddressSanitizer watches; and numbers that no test
/// survives that reads them before they are set.
at::Tensor uninitialized(at::IntArrayRef sizes, at::ScalarType number) {
  const at::Tensor result = at::empty(sizes, number);
  return at::isFloatingType(number) ? result.fill_(std::numeric_limits<double>::quiet_NaN()) : result;
}

#else

at::Tensor uninitialized(at::IntArrayRef sizes, at::ScalarType number) {
  constexpr size_t LEAST = 4096;
  const size_t bytes = c10::multiply_integers(sizes) * c10::elementSize(number);
  const auto [block, size] = pool().take(std::max(bytes, LEAST));
  const auto give_back = [block = block, size = size](void*) { pool().give_back(block, size); };
  return at::from_blob(block, sizes, give_back, at::TensorOptions().dtype(number));
}

#endif

at::Tensor zeros(at::IntArrayRef sizes, at::ScalarType number) { return uninitialized(sizes, number).zero_(); }

}  // namespace recurrent_mt
