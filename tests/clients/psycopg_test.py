#!/usr/bin/python3
"""psycopg2: types, parameters, COPY, transactions, errors, cancel, reconnect."""
import datetime
import decimal
import io
import os
import threading
import unittest
import uuid

import psycopg2
import psycopg2.errorcodes
import psycopg2.extensions
import psycopg2.extras

ON_TIDEMARK = os.environ["TIDEMARK_CLIENT_SERVER"] == "tidemark"


def connect():
    connection = psycopg2.connect("")
    connection.autocommit = True
    return connection


class PsycopgTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with connect().cursor() as cursor:
            cursor.execute("""create table things (id bigint primary key, name text, price numeric(10,2), weight
                              double precision, made date, at timestamptz, code uuid, data jsonb, raw bytea, ok boolean)""")

    def setUp(self):
        self.connection = connect()
        self.addCleanup(self.connection.close)
        self.cursor = self.connection.cursor()

    def test_values_come_back(self):
        at = datetime.datetime(2024, 2, 29, 12, 30, 15, 250000, tzinfo=datetime.timezone.utc)
        row = (1, "näme 'quoted'", decimal.Decimal("12.50"), 1.5, datetime.date(2024, 2, 29), at,
               str(uuid.UUID(int=7)), psycopg2.extras.Json({"a": [1, None]}), psycopg2.Binary(b"\x00\xff"), True)
        self.cursor.execute("insert into things values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)", row)
        self.assertEqual(self.cursor.rowcount, 1)
        self.cursor.execute("select * from things where id = %s", (1,))
        got = self.cursor.fetchone()
        self.assertEqual(got[:7], row[:7])
        self.assertEqual(got[7], {"a": [1, None]})
        self.assertEqual(bytes(got[8]), b"\x00\xff")
        self.assertIs(got[9], True)
        self.assertEqual([column.name for column in self.cursor.description][:3], ["id", "name", "price"])

    def test_copy(self):
        self.cursor.copy_expert("copy things (id, name) from stdin with (format csv)",
                                io.StringIO("".join(f'{i},"row {i}"\n' for i in range(100, 1100))))
        self.assertEqual(self.cursor.rowcount, 1000)
        self.cursor.execute("select count(*), min(name) from things where id between 100 and 1099")
        self.assertEqual(self.cursor.fetchone(), (1000, "row 100"))

    def test_changes(self):
        self.cursor.execute("insert into things (id, name) values (50, 'old') on conflict (id) do nothing")
        self.cursor.execute("update things set name = %s where id = 50", ("new",))
        self.assertEqual(self.cursor.rowcount, 1)
        self.cursor.execute("insert into things (id, name) values (50, 'x') on conflict (id) do update "
                            "set name = things.name || excluded.name returning name")
        self.assertEqual(self.cursor.fetchone(), ("newx",))
        self.cursor.execute("delete from things where id = 50")
        self.assertEqual(self.cursor.rowcount, 1)

    def test_errors(self):
        for statement, state in [("select nope", "42703"), ("select * from nosuch", "42P01"), ("selec 1", "42601"),
                                 ("select 1/0", "22012"), ("select 'x'::int", "22P02")]:
            with self.assertRaises(psycopg2.Error) as caught:
                self.cursor.execute(statement)
            self.assertEqual(caught.exception.pgcode, state, statement)
        self.cursor.execute("select 1")  # The connection goes on.
        self.assertEqual(self.cursor.fetchone(), (1,))

    def test_transactions(self):
        self.connection.autocommit = False
        self.cursor.execute("insert into things (id, name) values (60, 'kept')")
        self.connection.commit()
        self.cursor.execute("insert into things (id, name) values (61, 'undone')")
        self.connection.rollback()
        self.cursor.execute("select id from things where id in (60, 61)")
        self.assertEqual(self.cursor.fetchall(), [(60,)])
        self.connection.rollback()
        for mistake in ("select nope", "selec 1"):
            with self.assertRaises(psycopg2.Error):
                self.cursor.execute(mistake)
            with self.assertRaises(psycopg2.Error) as caught:
                self.cursor.execute("select 1")
            self.assertEqual(caught.exception.pgcode, psycopg2.errorcodes.IN_FAILED_SQL_TRANSACTION)
            self.connection.rollback()

    def test_cancel(self):
        done = threading.Event()

        def cancel():
            while not done.wait(0.05):
                self.connection.cancel()

        helper = threading.Thread(target=cancel)
        helper.start()
        try:
            with self.assertRaises(psycopg2.extensions.QueryCanceledError):
                self.cursor.execute("select count(*) from generate_series(1, 100000) a(n), generate_series(1, 100000) b(n) "
                                    "where a.n + b.n < 0")
        finally:
            done.set()
            helper.join()
        # A cancel that was on its way may still meet the next statement.
        while True:
            try:
                self.cursor.execute("select 1")
                break
            except psycopg2.extensions.QueryCanceledError:
                pass
        self.assertEqual(self.cursor.fetchone(), (1,))

    def test_reconnect(self):
        self.cursor.execute("insert into things (id, name) values (70, 'there')")
        self.connection.close()
        again = connect()
        self.addCleanup(again.close)
        cursor = again.cursor()
        cursor.execute("select name from things where id = 70")
        self.assertEqual(cursor.fetchone(), ("there",))

    def test_catalog(self):
        self.cursor.execute("select table_name from information_schema.tables where table_schema = 'public'")
        self.assertIn(("things",), self.cursor.fetchall())
        self.cursor.execute("select attname from pg_attribute where attrelid = 'things'::regclass and attnum = 2")
        self.assertEqual(self.cursor.fetchone(), ("name",))
        self.assertGreaterEqual(self.connection.server_version, 150000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
