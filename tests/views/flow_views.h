// Views kept by plans and operators alone: no lanes, messages or view managers. Fast enough for thousands of
// scripts.
#pragma once

#include "tests/view_manager/flow_world.h"
#include "tests/views/maintained_views.h"

namespace tidemark::views {

class FlowViews : public MaintainedViews {
 public:
  void create_table(const Step& step) override;
  std::string create_view(const Step& step) override;
  void drop_view(const std::string& name) override { world_.drop_view(name); }
  void write(const std::vector<Step>& batch) override;
  Lines read(const std::string& view, const Lines& wanted) override;
  Lines types(const std::string& view) override { return world_.types(view); }

 private:
  FlowWorld world_;
};

// The table of a step, in the world's catalog.
void add_table(FlowWorld& world, const Step& step);

}  // namespace tidemark::views
