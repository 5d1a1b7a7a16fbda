// Where embedded mode keeps the persistent entries of its coordination: one small file, replaced as a whole.
#pragma once

#include <string>

#include "base/result.h"
#include "coordinator/entry_tree.h"

namespace tidemark {

class CoordinationFile {
 public:
  explicit CoordinationFile(std::string path) : path_(std::move(path)) {}

  // An empty tree if there is no file. Error: unreadable or damaged, with the path.
  Result<EntryTree> load() const;

  // Durable when it returns. A disk that can not keep it ends the process: nobody may hear of a fact that is
  // not there after a restart.
  void save(const std::string& snapshot) const;

 private:
  std::string path_;
};

}  // namespace tidemark
