// Makes the scenario of a failing run smaller: fewer processes, fewer faults, shorter.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/simulate_campaign.h"

namespace tidemark {

// Of the first seed of `options`. Gives the settings ("name=value") under which it still fails in the same
// way; empty: it does not fail to begin with. `say` is told of each step.
std::vector<std::string> shrink_failure(const CampaignOptions& options,
                                        const std::function<void(const std::string&)>& say);

}  // namespace tidemark
