#pragma once

// Before a function: compiled for processors with AVX2 as well, and chosen when the program starts.
// What it calls is compiled so only if it is inlined ([[gnu::always_inline]]; lambdas are not).
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RESIDUA_VECTORISED __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define RESIDUA_VECTORISED
#endif
