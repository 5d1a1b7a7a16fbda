// `tidemark wal`: looks into WAL streams, in files or in Kafka, without a cluster and without changing
// anything.
#pragma once

namespace tidemark {

// argv[0] is "wal". Returns an ExitCode.
int wal_command(int argc, char** argv);

}  // namespace tidemark
