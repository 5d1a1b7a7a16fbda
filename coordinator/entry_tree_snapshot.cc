#include "base/bytes.h"
#include "coordinator/entry_tree.h"

namespace tidemark {

namespace {
constexpr uint8_t kSnapshotVersion = 1;
}

std::string EntryTree::snapshot() const {
  std::string out;
  put_u8(out, kSnapshotVersion);
  put_varint(out, static_cast<uint64_t>(next_created_));
  for (const auto& [path, node] : nodes_) {
    if (node.owner.value != 0) continue;
    put_bytes(out, path);
    put_bytes(out, node.data);
    put_varint(out, zigzag(node.version));
    put_varint(out, static_cast<uint64_t>(node.created));
    put_varint(out, node.next_sequence);
  }
  return out;
}

Result<EntryTree> EntryTree::restore(std::string_view snapshot) {
  ByteReader reader(snapshot);
  if (reader.u8() != kSnapshotVersion) return Error{"a snapshot of another version"};
  EntryTree tree;
  tree.next_created_ = static_cast<int64_t>(reader.varint());
  while (reader.ok() && !reader.done()) {
    std::string path(reader.bytes());
    Node node;
    node.data = reader.bytes();
    node.version = static_cast<int32_t>(unzigzag(reader.varint()));
    node.created = static_cast<int64_t>(reader.varint());
    node.next_sequence = reader.varint();
    // Paths are in order: a parent comes before its children.
    bool fits = path == "/" || (is_valid_entry_path(path) && tree.nodes_.contains(parent_of(path)));
    if (!reader.ok() || !fits) return Error{"a damaged snapshot"};
    if (path != "/") tree.nodes_[parent_of(path)].children.insert(name_of(path));
    node.children = std::move(tree.nodes_[path].children);
    tree.nodes_[path] = std::move(node);
  }
  if (!reader.ok()) return Error{"a damaged snapshot"};
  return tree;
}

}  // namespace tidemark
