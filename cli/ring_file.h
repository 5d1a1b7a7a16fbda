// Rings and loads as files: what `tidemark ring compute --json` prints is what the other subcommands read.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/report.h"
#include "hashring/placement.h"

namespace tidemark {

struct RingFile {
  std::string strategy;
  hashring::Members members;
  hashring::Assignment assignment;
};

// Everything in the file is checked: names, ids, and that the slices cover the shards once. An Error names
// the file and what is wrong in it.
Result<RingFile> read_ring(const std::string& path);

// {"slices": [{"first": 0, "end": 4, "load": 17}, ...]}
Result<std::vector<hashring::SliceLoad>> read_load(const std::string& path);

// The part of a report that read_ring() understands.
Report ring_report(const RingFile& ring);

Result<std::string> read_text(const std::string& path);
Status write_text(const std::string& path, const std::string& text);

std::string name_of(const hashring::Members& members, hashring::MemberId id);

}  // namespace tidemark
