#pragma once

// Eigen includes this, and uses nothing of it; emscripten has the SSE2 that Eigen does use.
