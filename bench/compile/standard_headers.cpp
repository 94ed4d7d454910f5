// What any program with coroutines, durations, error codes and results includes: the floor for our headers.
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <system_error>
#include <tuple>
#include <variant>

int main() {}
