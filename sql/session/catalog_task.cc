// CREATE TABLE, CREATE and ALTER MATERIALIZED VIEW, DROP: plans the change, asks the coordinator for it, and
// plans anew when somebody else was first. What counts is what the catalog says in the end.
#include "sql/session/catalog_plan.h"
#include "sql/session/errors.h"
#include "sql/session/task.h"

namespace tidemark::sql {

namespace {

constexpr Micros kLookDelay{100'000};

class CatalogTask : public Task {
 public:
  using Task::Task;

  void start() override {
    give_up_ = Micros{loop_.now().value + kCatalogDeadline.value};
    attempt();
  }

 private:
  Result<CatalogPlan, SqlError> plan(const BoundText& bound, const CatalogSnapshot& catalog) const {
    const auto& body = bound.body()->body;
    if (auto* create = std::get_if<CreateTableStatement>(&body))
      return plan_create_table(*create, bound.text(), catalog);
    if (auto* create = std::get_if<CreateViewStatement>(&body))
      return plan_create_view(*create, bound.text(), catalog);
    if (auto* alter = std::get_if<AlterViewStatement>(&body)) return plan_alter_view(*alter, catalog);
    return plan_drop(std::get<DropStatement>(body), catalog);
  }

  void attempt() {
    if (loop_.now() > give_up_) return give_up();
    CatalogSnapshotPtr catalog = running_.service.catalog;
    Result<BoundTextPtr, SqlError> bound = BoundText::bind(running_.statement->text(), {}, catalog);
    if (!bound.ok()) return finish(bound.error());
    Result<CatalogPlan, SqlError> planned = plan(**bound, *catalog);
    if (!planned.ok()) return finish(planned.error());
    plan_ = std::move(*planned);
    if (plan_.is_nothing()) return succeed();
    running_.service.changer.ask(plan_.request, loop_.token(),
                                 [this](const ChangeAnswer& answer) { on_answer(answer); });
  }

  void on_answer(const ChangeAnswer& answer) {
    if (answer.ok) return when_catalog_has(answer.version, [this] { succeed(); });
    // No coordinator, or one that does not know what became of it: it may have been done.
    const bool is_unsure = answer.version == 0;
    unsure_ = unsure_ || is_unsure || answer.is_repeat;
    if (is_unsure) {
      running_.service.look_again();
      return loop_.post_after(kLookDelay, [this] { check(); });
    }
    if (answer.version == plan_.request.expects_version()) return finish(error("XX000", answer.message));
    when_catalog_has(answer.version, [this] { check(); });
  }

  // Was an attempt whose answer we never heard the one that did it?
  void check() {
    if (unsure_ && is_done(plan_.request, *running_.service.catalog)) return succeed();
    attempt();
  }

  void when_catalog_has(uint64_t version, std::function<void()> then) {
    if (running_.service.catalog->version() >= version) return then();
    running_.service.look_again();
    running_.service.catalog_waiters.add(loop_.token(),
                                         [this, version, then] { when_catalog_has(version, then); });
  }

  void succeed() {
    for (const SqlError& notice : plan_.notices) running_.sink.notice(notice);
    finish(plan_.tag);
  }

  void give_up() {
    finish(unsure_ ? error(sqlstate::kTransactionResolutionUnknown,
                           "it is not known whether the catalog was changed: the coordinator does not answer")
                   : error(sqlstate::kUnavailable, "the catalog could not be changed in time"));
  }

  CatalogPlan plan_;
  Micros give_up_{};
  bool unsure_ = false;
};

}  // namespace

std::unique_ptr<Task> make_catalog_task(Running running, TaskDone done) {
  return std::make_unique<CatalogTask>(std::move(running), std::move(done));
}

}  // namespace tidemark::sql
