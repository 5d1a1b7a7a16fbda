// Two small tables for fuzz targets: t with a column of each type, u empty.
#pragma once

#include "sql/execute/memory_source.h"
#include "tests/sql/test_catalog.h"

namespace tidemark::sql::testing {

struct MemoryWorld {
  TestCatalog catalog;
  MemorySource source;

  MemoryWorld() {
    catalog.create(
        "create table t (a int, b bigint, c numeric, d text, e double precision, f boolean, g date, h "
        "timestamptz, i jsonb, j uuid, k bytea, primary key (a, b))");
    catalog.create("create table u (a int primary key, v text)");
    MemoryTable& rows = source.add_table(*catalog.find_table("", "t"));
    for (int i = 0; i < 3; ++i) {
      Value row[11];
      row[0] = Value::integer(i);
      row[1] = Value::bigint(i * 7);
      row[2] = Value::numeric(Numeric::small(i * 125, 2));
      row[3] = Value::text("text");
      row[8] = Value::jsonb("{\"a\": [1, 2]}");
      rows.add(row);
    }
    source.add_table(*catalog.find_table("", "u"));
  }
};

}  // namespace tidemark::sql::testing
