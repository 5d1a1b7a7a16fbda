// A stream's name where people and stores see it: directories, topics, messages, the command line.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/types.h"

namespace tidemark {

// The cluster in 16 hexadecimal digits, a dash, the region: "000000000000002a-7". Good as a file name and
// within the letters of a Kafka topic.
std::string stream_name(StreamId stream);

Result<StreamId> parse_stream_name(std::string_view name);

}  // namespace tidemark
