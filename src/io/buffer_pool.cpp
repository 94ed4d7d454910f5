#include <pitsaw/io/buffer_pool.hpp>

#include <new>

namespace pitsaw::inline v0 {
namespace {

constexpr std::align_val_t page{4096}; // what a kernel that maps the memory wants

} // namespace

auto buffer_pool::make(driver& at, std::uint32_t buffers, std::uint32_t buffer_bytes) noexcept
    -> std::unique_ptr<buffer_pool> {
    if (buffers == 0 || buffer_bytes == 0) return nullptr;
    try {
        auto made = std::make_unique<buffer_pool>(at, buffers, buffer_bytes);
        return made->is_lent_ ? std::move(made) : nullptr;
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}

buffer_pool::buffer_pool(driver& at, std::uint32_t buffers, std::uint32_t buffer_bytes)
    : driver_(at),
      memory_(static_cast<std::byte*>(::operator new(std::size_t{buffers} * buffer_bytes, page))),
      buffer_bytes_(buffer_bytes) {
    auto const lent = at.lend({memory_, std::size_t{buffers} * buffer_bytes}, buffer_bytes);
    is_lent_ = lent.has_value();
    if (is_lent_) number_ = *lent;
}

buffer_pool::~buffer_pool() { ::operator delete(memory_, page); }

} // namespace pitsaw::inline v0
