#include <coroutine>

int main() {}
