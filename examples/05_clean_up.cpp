// Asynchronous clean-up, whatever the ending: `with` for a resource, `at_exit` for the rest.
#include <pitsaw/pitsaw.hpp>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

using namespace std::chrono_literals;
namespace ps = pitsaw;

class connection {
  public:
    explicit connection(std::string name) : name_(std::move(name)) {}

    // A farewell takes time. `with` calls it after the body, and a stop does not interrupt it.
    ps::task<> async_close() {
        co_await ps::sleep(20ms);
        std::printf("  %s: said goodbye\n", name_.c_str());
    }

  private:
    std::string name_;
};

ps::task<> talk_for(ps::duration time) {
    co_await ps::sleep(time);
    if (time == 0s) throw std::runtime_error("nothing to say");
    std::puts("  talked");
}

ps::task<> flush(std::shared_ptr<int> book) { // owns what it uses: the task's locals may be gone by now
    co_await ps::sleep(5ms);
    std::printf("  flushed %d entries\n", *book);
}

ps::task<> call(ps::duration time) {
    auto book = std::make_shared<int>(7);
    co_await ps::at_exit(flush, book).within(1s); // its own deadline, from its own start
    co_await ps::with(connection("link"), [time](connection&) -> ps::task<> { co_await talk_for(time); });
}

ps::task<> work() {
    std::puts("a value:");
    co_await call(1s);
    std::puts("an exception:");
    auto thrown = co_await ps::as_outcome(call(0s));
    std::printf("  passed on: %s\n", thrown.has_exception() ? "yes" : "no");
    std::puts("a stop:");
    auto late = co_await ps::with_timeout(1s, call(1h));
    std::printf("  timed out: %s\n", late ? "no" : "yes");
}

int main() { return ps::run(work()); }

// prints:
// a value:
//   talked
//   link: said goodbye
//   flushed 7 entries
// an exception:
//   link: said goodbye
//   flushed 7 entries
//   passed on: yes
// a stop:
//   link: said goodbye
//   flushed 7 entries
//   timed out: yes
