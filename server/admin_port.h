// The door through which `tidemark admin` reaches a cluster that lives within one process: takes operators'
// questions over TCP and passes them on to its nodes.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "proto/messages.pb.h"
#include "server/surroundings.h"

namespace tidemark {

class AdminPort {
 public:
  // A question that this process answers itself; none: it is the coordinator's. Called on the loop.
  using Own = std::function<std::optional<pb::AdminReply>(const pb::AdminRequest&)>;

  // `nodes` are asked in turn. Error: says which address can not be listened on, and why.
  static Result<std::unique_ptr<AdminPort>> start(Surroundings& surroundings, const Address& listen,
                                                  std::vector<Address> nodes, Own own);
  ~AdminPort();

  const Address& address() const;

 private:
  class Impl;
  explicit AdminPort(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark
