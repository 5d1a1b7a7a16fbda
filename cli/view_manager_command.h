// `tidemark view-manager`: a view manager of a cluster.
#pragma once

namespace tidemark {

int view_manager_command(int argc, char** argv);

}  // namespace tidemark
