// "Process update" (docs/protocols.md), as a client sees it: one write goes by its log, a queue and a
// view manager into a view, and the session that wrote it reads it there.
#pragma once

#include <gtest/gtest.h>

#include "tests/cluster/sql_client.h"

namespace tidemark::crash {

inline void process_update(SqlClient& client) {
  for (const char* statement :
       {"create table parcels (id bigint primary key, town text, kilos bigint)",
        "create materialized view freight as select town, sum(kilos) as kilos from parcels "
        "group by town",
        "set tidemark.wait = on", "insert into parcels values (1, 'Oslo', 3), (2, 'Oslo', 4)",
        "update parcels set kilos = 5 where id = 2"}) {
    const SqlAnswer answer = client.ask(statement);
    ASSERT_TRUE(answer.ok()) << statement << ": " << answer.message;
  }
  const SqlAnswer seen = client.ask("select town, kilos from freight");
  ASSERT_TRUE(seen.ok()) << seen.message;
  EXPECT_EQ(seen.rows, (std::vector<std::vector<std::string>>{{"Oslo", "8"}}));
}

}  // namespace tidemark::crash
