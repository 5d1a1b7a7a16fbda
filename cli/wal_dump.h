// Records of a stream as `tidemark wal dump` prints them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "wal/stream_reader.h"

namespace tidemark {

// What a payload holds, in one line.
using DescribePayload = std::function<std::string(RecordKind kind, std::string_view payload)>;

// A log that was trimmed begins after the fence in force: what comes before the next fence can not be judged.
enum class Judged : bool { No, Yes };

// One line each, without the newline.
std::string dump_as_text(const JudgedRecord& record, Judged judged, const DescribePayload& describe);
std::string dump_as_json(const JudgedRecord& record, Judged judged, const DescribePayload& describe);

// By the messages of proto/log.proto.
std::string describe_payload(RecordKind kind, std::string_view payload);

}  // namespace tidemark
