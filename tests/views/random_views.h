// Random schemas, views of the supported language and histories, from a seed. Values come from small ranges,
// so that keys meet; expressions do not fail, since PostgreSQL would give no rows at all then.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "tests/views/view_script.h"

namespace tidemark::views {

struct RandomScriptOptions {
  int tables = 3;
  int views = 5;  // Over tables and over the views before.
  int batches = 12;
  int writes_per_batch_max = 6;
  bool drops = true;
  bool view_managers = false;  // They come and go.
};

Script random_script(uint64_t seed, const RandomScriptOptions& options);

}  // namespace tidemark::views
