// An awaitable of your own that takes part in everything: stops, scopes, the async stack.
#include <pitsaw/pitsaw.hpp>

#include <coroutine>
#include <cstdio>
#include <utility>

using namespace std::chrono_literals;
namespace ps = pitsaw;

/// Closed until somebody opens it; one task waits.
class gate {
  public:
    class [[nodiscard]] passage : ps::waiter {
      public:
        explicit passage(gate& of) noexcept : waiter(withdrawn), of_(of) {}

        // The order of every leaf: stop, attempt, register. What it returns runs next.
        std::coroutine_handle<> start(ps::promise_header& header) noexcept {
            if (header.env->stop.stop_requested()) return header.stop_here();
            if (of_.is_open_) return ps::transfer(header);
            header_ = &header;
            of_.waiting_ = this;
            return header.suspend_at(*this); // into the stop slot: how a stop finds this leaf
        }
        void await_resume() const noexcept {}

      private:
        friend gate;
        static void withdrawn(waiter& self) noexcept { // a stop has reached it
            auto& me = static_cast<passage&>(self);
            me.of_.waiting_ = nullptr;
            me.header_->stop_here();
        }
        gate& of_;
        ps::promise_header* header_ = nullptr;
    };

    passage pass() noexcept { return passage(*this); }

    void open() noexcept {
        is_open_ = true;
        if (auto* const first = std::exchange(waiting_, nullptr)) first->header_->complete_here();
    }

  private:
    bool is_open_ = false;
    passage* waiting_ = nullptr;
};

ps::task<> open_after(gate& which, ps::duration time) {
    co_await ps::sleep(time);
    which.open();
}

ps::task<> work() {
    gate entrance;
    auto closed = co_await ps::with_timeout(1s, entrance.pass());
    std::puts(closed ? "through" : "timed out at the gate");
    co_await ps::when_all(entrance.pass(), open_after(entrance, 1s));
    std::puts("through");
}

int main() { return ps::run(work()); }

// prints:
// timed out at the gate
// through
