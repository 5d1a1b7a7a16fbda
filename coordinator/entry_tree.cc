#include "coordinator/entry_tree.h"

#include <algorithm>
#include <cstdio>

#include "base/assert.h"

namespace tidemark {

EntryTree::EntryTree() {
  nodes_["/"];
}

EntryTree EntryTree::copy() const {
  EntryTree out = *this;
  out.watches_.clear();
  out.fired_.clear();
  out.observer_ = nullptr;
  return out;
}

SessionNumber EntryTree::begin_session() {
  SessionNumber session{next_session_++};
  ephemerals_[session];
  return session;
}

void EntryTree::end_session(SessionNumber session) {
  auto found = ephemerals_.find(session);
  if (found == ephemerals_.end()) return;
  std::vector<CoordinationOp> removals;
  for (const std::string& path : found->second) {
    CoordinationOp op;
    op.kind = CoordinationOp::Kind::Remove;
    op.path = path;
    removals.push_back(std::move(op));
  }
  for (auto& [where, watches] : watches_)
    std::erase_if(watches, [&](const FiredWatch& watch) { return watch.first == session; });
  std::erase_if(watches_, [](const auto& entry) { return entry.second.empty(); });
  auto removed = apply(session, removals);
  TM_ASSERT(removed.ok());
  ephemerals_.erase(session);
}

Result<Entry, CoordinationError> EntryTree::get(SessionNumber session, const std::string& path) const {
  if (!is_valid_entry_path(path)) return CoordinationError::Refused;
  auto found = nodes_.find(path);
  if (found == nodes_.end()) return CoordinationError::NoNode;
  const Node& node = found->second;
  return Entry{node.data, node.version, node.created, node.owner == session};
}

Result<std::vector<std::string>, CoordinationError> EntryTree::children(const std::string& path) const {
  if (!is_valid_entry_path(path)) return CoordinationError::Refused;
  auto found = nodes_.find(path);
  if (found == nodes_.end()) return CoordinationError::NoNode;
  return std::vector<std::string>(found->second.children.begin(), found->second.children.end());
}

Result<bool, CoordinationError> EntryTree::exists(const std::string& path) const {
  if (!is_valid_entry_path(path)) return CoordinationError::Refused;
  return nodes_.contains(path);
}

Result<std::vector<std::string>, CoordinationError> EntryTree::apply(SessionNumber session,
                                                                     const std::vector<CoordinationOp>& ops) {
  if (!is_acceptable(ops)) return CoordinationError::Refused;
  Undo undo;
  std::vector<std::string> paths;
  for (const CoordinationOp& op : ops) {
    auto done = apply_one(session, op, undo);
    if (!done.ok()) {
      for (auto& [path, node] : undo) {
        nodes_.erase(path);
        if (node) nodes_[path] = std::move(*node);
      }
      return done.error();
    }
    paths.push_back(*done);
  }
  bool persistent = false;
  for (const auto& [path, before] : undo) {
    persistent = persistent || changed_persistently(path, before);
    if (before && before->owner.value != 0) ephemerals_[before->owner].erase(path);
    auto now = nodes_.find(path);
    if (now != nodes_.end() && now->second.owner.value != 0) ephemerals_[now->second.owner].insert(path);
  }
  if (persistent) ++persistent_changes_;
  fire_for(ops, paths);
  if (observer_) observer_(session, ops);
  return paths;
}

bool EntryTree::changed_persistently(const std::string& path, const std::optional<Node>& before) const {
  auto now = nodes_.find(path);
  if (now == nodes_.end()) return before && before->owner.value == 0;
  if (now->second.owner.value != 0) return false;
  // The parent of an ephemeral entry is remembered too, but neither its data nor its version change.
  return !before || before->version != now->second.version || before->created != now->second.created;
}

Result<std::string, CoordinationError> EntryTree::apply_one(SessionNumber session, const CoordinationOp& op,
                                                            Undo& undo) {
  if (op.kind == CoordinationOp::Kind::Create) return create(session, op, undo);
  auto found = nodes_.find(op.path);
  if (found == nodes_.end()) return CoordinationError::NoNode;
  if (op.version && *op.version != found->second.version) return CoordinationError::BadVersion;
  if (op.kind == CoordinationOp::Kind::Remove) return remove(op, undo);
  if (op.kind == CoordinationOp::Kind::Set) {
    remember(op.path, undo);
    found->second.data = op.data;
    ++found->second.version;
  }
  return op.path;
}

Result<std::string, CoordinationError> EntryTree::create(SessionNumber session, const CoordinationOp& op,
                                                         Undo& undo) {
  std::string parent = parent_of(op.path);
  auto above = nodes_.find(parent);
  if (op.path == "/") return CoordinationError::NodeExists;
  if (above == nodes_.end()) return CoordinationError::NoNode;
  if (above->second.owner.value != 0) return CoordinationError::Refused;  // Ephemeral: no children.
  std::string path = op.path;
  if (op.mode == EntryMode::EphemeralSequential) {
    char number[24];
    std::snprintf(number, sizeof number, "%010llu",
                  static_cast<unsigned long long>(above->second.next_sequence));
    path += number;
  }
  if (nodes_.contains(path)) return CoordinationError::NodeExists;
  remember(parent, undo);
  remember(path, undo);
  ++above->second.next_sequence;
  above->second.children.insert(name_of(path));
  Node& node = nodes_[path];
  node.data = op.data;
  node.created = next_created_++;
  if (op.mode != EntryMode::Persistent) node.owner = session;
  return path;
}

Result<std::string, CoordinationError> EntryTree::remove(const CoordinationOp& op, Undo& undo) {
  if (op.path == "/") return CoordinationError::Refused;
  if (!nodes_.at(op.path).children.empty()) return CoordinationError::NotEmpty;
  std::string parent = parent_of(op.path);
  remember(parent, undo);
  remember(op.path, undo);
  nodes_.at(parent).children.erase(name_of(op.path));
  nodes_.erase(op.path);
  return op.path;
}

void EntryTree::remember(const std::string& path, Undo& undo) const {
  auto found = nodes_.find(path);
  undo.try_emplace(path, found == nodes_.end() ? std::nullopt : std::optional(found->second));
}

void EntryTree::watch(WatchKind kind, const std::string& path, SessionNumber session, WatchNumber watch) {
  watches_[{kind, path}].push_back({session, watch});
}

void EntryTree::fire_for(const std::vector<CoordinationOp>& ops, const std::vector<std::string>& paths) {
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].kind == CoordinationOp::Kind::Check) continue;
    fire(WatchKind::Data, paths[i]);
    if (ops[i].kind == CoordinationOp::Kind::Set) continue;
    fire(WatchKind::Children, parent_of(paths[i]));
    if (ops[i].kind == CoordinationOp::Kind::Remove) fire(WatchKind::Children, paths[i]);
  }
}

void EntryTree::fire(WatchKind kind, const std::string& path) {
  auto node = watches_.extract({kind, path});
  if (node.empty()) return;
  fired_.insert(fired_.end(), node.mapped().begin(), node.mapped().end());
}

std::string EntryTree::parent_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string EntryTree::name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_valid_entry_path(const std::string& path) {
  if (path.empty() || path.front() != '/') return false;
  if (path == "/") return true;
  size_t begin = 1;
  while (begin <= path.size()) {
    size_t end = std::min(path.find('/', begin), path.size());
    std::string_view part = std::string_view(path).substr(begin, end - begin);
    bool printable = std::all_of(part.begin(), part.end(), [](char c) { return c > 0x1f && c != 0x7f; });
    if (part.empty() || part == "." || part == ".." || !printable) return false;
    begin = end + 1;
  }
  return true;
}

bool is_acceptable(const std::vector<CoordinationOp>& ops) {
  size_t bytes = 0;
  for (const CoordinationOp& op : ops) {
    // A sequential entry's name may be only its number.
    bool sequential = op.kind == CoordinationOp::Kind::Create && op.mode == EntryMode::EphemeralSequential;
    if (!is_valid_entry_path(sequential ? op.path + "0" : op.path)) return false;
    if (op.data.size() > kEntryBytesMax) return false;
    bytes += op.path.size() + op.data.size();
  }
  return bytes <= kMultiBytesMax;
}

}  // namespace tidemark
