#pragma once

namespace tidemark {

// `tidemark verify`: compares views with their queries, computed from the base rows apart from Tidemark.
int verify_command(int argc, char** argv);

}  // namespace tidemark
