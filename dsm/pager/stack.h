// Calling a function on another stack.
#ifndef DSM_STACK_H
#define DSM_STACK_H

#if defined(__x86_64__) || defined(__aarch64__)
enum { STACK_CALLS = 1 };
#else
enum { STACK_CALLS = 0 };
#endif

// call_on calls f(arg) on the stack that ends at top, a multiple of 16, or where STACK_CALLS is 0 on the caller's.
void call_on(void *top, void (*f)(void *), void *arg);

#endif
