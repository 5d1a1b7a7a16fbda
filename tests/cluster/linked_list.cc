#include "tests/cluster/workloads.h"

namespace tidemark::crash {
namespace {

constexpr size_t kTailsMax = 25;  // Acknowledged rows that the next one may refer to.

class LinkedList : public Workload {
 public:
  explicit LinkedList(const WorkloadOptions& options)
      : Workload("linked list", options), writers_(options.writers) {}
  ~LinkedList() override { stop(); }

  std::vector<std::string> definitions() const override {
    return {"create table if not exists list (id bigint primary key, previous bigint)",
            "create materialized view if not exists links as select l.id as id, p.id as previous from list l "
            "join list p on l.previous = p.id"};
  }

  std::vector<ViewQuery> views() const override {
    return {{"links", "select l.id, p.id from list l join list p on l.previous = p.id"}};
  }

  Findings check(SqlClient& client) override {
    auto rows = rows_by_key(client, "select id, previous from list");
    Findings out;
    for (const auto& [id, previous] : rows)
      if (previous != "\\N" && !rows.contains(previous))
        out.push_back("list: " + id + " refers to " + previous + ", which is not there");
    auto links = rows_by_key(client, "select id, previous from links");
    for (const auto& [id, previous] : rows) {
      if (previous == "\\N") continue;
      auto link = links.find(id);
      if (link == links.end() || link->second != previous)
        out.push_back("links: " + id + " -> " + previous + " is missing");
    }
    for (const Writer& writer : writers_) append(out, writer.log.check("list", rows));
    for (const auto& [id, row] : rows) out.push_back("list " + id + ": nobody wrote (" + row + ")");
    return out;
  }

 protected:
  void write_once(size_t number, SqlClient& client, Random& random) override {
    Writer& writer = writers_[number];
    const std::string id = std::to_string(number * kIdsPerWriter + writer.next++);
    const std::string previous =
        writer.tails.empty() ? "null" : writer.tails[random.below(writer.tails.size())];
    SqlAnswer answer =
        write(number, client, "insert into list (id, previous) values (" + id + ", " + previous + ")");
    writer.log.note(id, previous == "null" ? "\\N" : previous, answer.fate);
    if (answer.ok()) remember(writer, id, random);
  }

 private:
  struct Writer {
    uint64_t next = 1;
    std::vector<std::string> tails;
    KeyLog log;
  };

  static void remember(Writer& writer, const std::string& id, Random& random) {
    if (writer.tails.size() < kTailsMax) {
      writer.tails.push_back(id);
    } else {
      writer.tails[random.below(kTailsMax)] = id;
    }
  }

  std::vector<Writer> writers_;
};

}  // namespace

std::unique_ptr<Workload> make_linked_list(const WorkloadOptions& options) {
  return std::make_unique<LinkedList>(options);
}

}  // namespace tidemark::crash
