#!/usr/bin/python3
"""psql: statements, COPY, errors, and what \\d shows."""
import os
import subprocess
import unittest

ON_TIDEMARK = os.environ["TIDEMARK_CLIENT_SERVER"] == "tidemark"


def psql(text, *flags, check=True):
    """What psql prints for a script."""
    done = subprocess.run(["psql", "-X", "-v", "ON_ERROR_STOP=1", *flags], input=text, text=True,
                          capture_output=True)
    if check and done.returncode != 0:
        raise AssertionError(f"psql failed: {done.stderr}\nof: {text}")
    return done.stdout + done.stderr


def tuples(text):
    return psql(text, "-Atq").splitlines()


class PsqlTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        psql("""
create table orders (id bigint primary key, customer text not null, amount numeric(10,2), note varchar(20),
                     placed timestamptz);
create table items (order_id bigint, line integer, sku text, qty integer not null default 1,
                    primary key (order_id, line));
copy orders (id, customer, amount) from stdin;
1\tann\t10.50
2\tbob\t20.25
3\tann\t\\N
\\.
insert into items values (1, 1, 'nut', 5), (1, 2, 'bolt', 2);
create materialized view totals as
  select customer, sum(amount) as total, count(*) as n from orders group by customer;
""")

    def test_rows_are_there(self):
        self.assertEqual(tuples("select id, customer, amount from orders order by id"),
                         ["1|ann|10.50", "2|bob|20.25", "3|ann|"])
        self.assertEqual(tuples("select i.sku from orders o join items i on i.order_id = o.id order by i.line"),
                         ["nut", "bolt"])

    def test_view_follows(self):
        rows = tuples("set tidemark.wait = on; select customer, total, n from totals order by customer"
                      if ON_TIDEMARK else
                      "refresh materialized view totals; select customer, total, n from totals order by customer")
        self.assertEqual(rows, ["ann|10.50|2", "bob|20.25|1"])

    def test_errors_have_state_and_position(self):
        out = psql("\\set VERBOSITY verbose\nselect nope from orders;", check=False)
        self.assertIn("42703", out)
        self.assertIn("^", out)
        out = psql("\\set VERBOSITY verbose\nselect 1/0;", check=False)
        self.assertIn("22012", out)

    def test_list_of_relations(self):
        out = psql("\\d")
        self.assertIn("List of relations", out)
        for name, kind in [("items", "table"), ("orders", "table"), ("totals", "materialized view")]:
            self.assertRegex(out, rf"public +\| {name} +\| {kind} +\|")
        self.assertRegex(psql("\\dt"), r"orders +\| table")
        self.assertNotIn("totals", psql("\\dt"))
        self.assertIn("totals", psql("\\dm"))
        self.assertIn("orders_pkey", psql("\\di"))

    def test_table_is_described(self):
        self.assertEqual(psql("\\d orders"), """\
                        Table "public.orders"
  Column  |           Type           | Collation | Nullable | Default 
----------+--------------------------+-----------+----------+---------
 id       | bigint                   |           | not null | 
 customer | text                     |           | not null | 
 amount   | numeric(10,2)            |           |          | 
 note     | character varying(20)    |           |          | 
 placed   | timestamp with time zone |           |          | 
Indexes:
    "orders_pkey" PRIMARY KEY, btree (id)

""")
        self.assertIn("""\
 qty      | integer |           | not null | 1
Indexes:
    "items_pkey" PRIMARY KEY, btree (order_id, line)
""", psql("\\d items"))

    def test_view_is_described(self):
        out = psql("\\d+ totals")
        self.assertIn('Materialized view "public.totals"', out)
        self.assertIn("View definition:", out)
        self.assertIn("group by customer", out.lower().replace("orders.", ""))

    def test_missing_relation(self):
        self.assertIn('Did not find any relation named "nosuch"', psql("\\d nosuch", check=False))

    def test_server_lists(self):
        self.assertIn(os.environ["PGDATABASE"], psql("\\l"))
        self.assertIn("public", psql("\\dn"))
        self.assertIn(os.environ["PGUSER"], psql("\\du"))
        for command in ["\\df", "\\dT", "\\dx", "\\dp", "\\dv", "\\d pg_class", "\\dt ord*", "\\conninfo"]:
            psql(command, check=False)
            self.assertNotIn("ERROR", psql(command, check=False), command)


if __name__ == "__main__":
    unittest.main(verbosity=2)
