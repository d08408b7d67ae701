#pragma once

// Put before a function, this compiles it for processors with AVX2 as well; one of the two is
// chosen when the program starts. Functions that it calls are compiled this way only if they are
// inlined ([[gnu::always_inline]]; lambdas are not).
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define RESIDUA_VECTORISED __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define RESIDUA_VECTORISED
#endif
