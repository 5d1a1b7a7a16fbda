// Whatever keeps views up to date, as scripts see it.
#pragma once

#include <string>
#include <vector>

#include "tests/views/view_script.h"

namespace tidemark::views {

using Lines = std::vector<std::string>;

class MaintainedViews {
 public:
  virtual ~MaintainedViews() = default;

  virtual void create_table(const Step& step) = 0;
  // Empty, or why not.
  virtual std::string create_view(const Step& step) = 0;
  virtual void drop_view(const std::string& name) = 0;
  // Upserts and deletes of tables that are there.
  virtual void write(const std::vector<Step>& batch) = 0;
  virtual void change_view_managers(StepKind) {}

  // What comes of the writes so far: sorted lines of "a|b|c", numerics without zeros at their end. May take
  // `wanted` as a hint when it has settled.
  virtual Lines read(const std::string& view, const Lines& wanted) = 0;
  // Names of the columns' types.
  virtual Lines types(const std::string& view) = 0;
};

}  // namespace tidemark::views
