#pragma once

namespace tidemark {

// `tidemark sql`: a thin client over libpq, for scripts and a first look.
int sql_command(int argc, char** argv);

}  // namespace tidemark
