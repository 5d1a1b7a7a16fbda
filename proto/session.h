// How a client's session is named, on both ends.
#pragma once

#include "base/types.h"
#include "proto/log.pb.h"

namespace tidemark {

// A session is named by the place of its OpenSession record, which can not repeat.
struct SessionKey {
  RegionId region;
  Offset offset;
  auto operator<=>(const SessionKey&) const = default;
};
inline SessionKey from_pb(const pb::SessionName& name) {
  return {RegionId{name.region()}, Offset{name.offset()}};
}

}  // namespace tidemark
