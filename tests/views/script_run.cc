#include "tests/views/script_run.h"

#include <algorithm>
#include <set>

#include "base/assert.h"

namespace tidemark::views {

using sql::testing::Answer;
using sql::testing::Oracle;

namespace {

std::string literal(const std::string& value) {
  return value == "NULL" ? value : sql::testing::quote(value);
}

// The base tables and views in PostgreSQL.
class Twin {
 public:
  explicit Twin(Oracle& oracle) : oracle_(oracle) {
    oracle_.run("set client_min_messages to warning");
    oracle_.run("set log_min_messages to fatal");  // Refusals are expected.
    oracle_.run("drop schema if exists script cascade");
    oracle_.run("create schema script");
    oracle_.run("set search_path to script");
  }

  void create_table(const Step& step) {
    std::string columns, key;
    for (size_t i = 0; i < step.columns.size(); ++i) {
      columns += step.columns[i].name + " " + step.columns[i].type + ", ";
      if (i < step.key_columns) key += (i > 0 ? ", " : "") + step.columns[i].name;
    }
    oracle_.run("create table " + step.name + " (" + columns + "primary key (" + key + "))");
    tables_[step.name] = step;
  }
  bool has_table(const std::string& name) const { return tables_.contains(name); }
  bool create_view(const Step& step) {
    return oracle_.ask("create view " + step.name + " as " + step.query).ok();
  }
  void drop_view(const std::string& name) { oracle_.run("drop view " + name); }

  void write(const std::vector<Step>& batch) {
    std::string sql;
    for (const Step& step : batch) {
      sql += step.kind == StepKind::Upsert ? upsert(step) : erase(step);
    }
    if (!sql.empty()) oracle_.run(sql);
  }

  Answer read(const std::string& view) { return oracle_.ask("select * from " + view); }

 private:
  std::string upsert(const Step& step) {
    const Step& table = tables_.at(step.name);
    std::string values, key, set;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      const std::string& column = table.columns[i].name;
      values += (i > 0 ? ", " : "") + literal(step.values[i]);
      if (i < table.key_columns) key += (i > 0 ? ", " : "") + column;
      set += (i > 0 ? ", " : "") + column + " = excluded." + column;
    }
    return "insert into " + step.name + " values (" + values + ") on conflict (" + key + ") do update set " +
           set + ";";
  }

  std::string erase(const Step& step) {
    const Step& table = tables_.at(step.name);
    std::string where;
    for (size_t i = 0; i < table.key_columns; ++i) {
      where += (i > 0 ? " and " : "") + table.columns[i].name + " = " + literal(step.values[i]);
    }
    return "delete from " + step.name + " where " + where + ";";
  }

  Oracle& oracle_;
  std::map<std::string, Step> tables_;
};

class Run {
 public:
  Run(MaintainedViews& views, Oracle& oracle) : views_(views), twin_(oracle) {}

  RunResult run(const Script& script) {
    for (const Step& step : script) {
      take(step);
      if (!result_.difference.empty()) return result_;
    }
    check();
    return result_;
  }

 private:
  void take(const Step& step) {
    switch (step.kind) {
      case StepKind::CreateTable:
        if (twin_.has_table(step.name)) return;
        twin_.create_table(step);
        views_.create_table(step);
        return;
      case StepKind::CreateView: return create_view(step);
      case StepKind::DropView:
        flush();
        if (queries_.erase(step.name) == 0) return;
        twin_.drop_view(step.name);
        views_.drop_view(step.name);
        return;
      case StepKind::Upsert:
      case StepKind::Delete:
        if (twin_.has_table(step.name)) batch_.push_back(step);
        return;
      case StepKind::Check: return check();
      case StepKind::AddViewManager:
      case StepKind::RemoveViewManager:
      case StepKind::ReplaceViewManager:
        flush();
        views_.change_view_managers(step.kind);
        return;
    }
  }

  // A view that PostgreSQL does not take names what the script has lost; that is nothing to compare.
  void create_view(const Step& step) {
    flush();
    if (queries_.contains(step.name) || !twin_.create_view(step)) return;
    std::string refused = views_.create_view(step);
    if (refused.empty()) {
      queries_[step.name] = create_view_sql(step);
      return;
    }
    ++result_.refused[refused];
    twin_.drop_view(step.name);
  }

  void flush() {
    if (batch_.empty()) return;
    twin_.write(batch_);
    views_.write(batch_);
    batch_.clear();
  }

  void check() {
    flush();
    for (const auto& [name, query] : queries_) {
      const Answer answer = twin_.read(name);
      if (!answer.ok()) continue;  // It fails for some row: nothing to compare with.
      const Lines wanted = lines_of(answer);
      const Lines have = views_.read(name, wanted);
      ++result_.compared;
      result_.rows += static_cast<int>(have.size());
      if (have == wanted && views_.types(name) == answer.types) continue;
      result_.difference = query + "\nhas:\n" + indented(have) + indented(views_.types(name)) +
                           "PostgreSQL says:\n" + indented(wanted) + indented(answer.types);
      return;
    }
  }

  static std::string indented(const Lines& lines) {
    std::string out;
    for (const std::string& line : lines) out += "  " + line + "\n";
    return out;
  }

  MaintainedViews& views_;
  Twin twin_;
  std::map<std::string, std::string> queries_;  // Of views that are there.
  std::vector<Step> batch_;
  RunResult result_;
};

// How many zeros follow is not compared: a sum keeps the longest scale that it has seen.
std::string without_zeros(std::string number) {
  if (number.find('.') == std::string::npos) return number;
  while (number.back() == '0') number.pop_back();
  if (number.back() == '.') number.pop_back();
  return number;
}

}  // namespace

Lines lines_of(const Answer& answer) {
  Lines out;
  for (const auto& row : answer.rows) {
    std::string& line = out.emplace_back();
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += '|';
      line += row[i] == "\\N" ? "NULL" : answer.types[i] == "numeric" ? without_zeros(row[i]) : row[i];
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

RunResult run_script(const Script& script, MaintainedViews& views, Oracle& oracle) {
  return Run(views, oracle).run(script);
}

Script shrink(const Script& script, const MakeViews& make, Oracle& oracle) {
  Script best = script;
  auto differs = [&](const Script& candidate) {
    return !run_script(candidate, *make(), oracle).difference.empty();
  };
  for (size_t chunk = std::max<size_t>(1, best.size() / 2);; chunk /= 2) {
    for (size_t at = 0; at < best.size();) {
      Script candidate(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(at));
      const size_t end = std::min(best.size(), at + chunk);
      candidate.insert(candidate.end(), best.begin() + static_cast<std::ptrdiff_t>(end), best.end());
      if (differs(candidate)) {
        best = std::move(candidate);
      } else {
        at = end;
      }
    }
    if (chunk == 1) return best;
  }
}

}  // namespace tidemark::views
