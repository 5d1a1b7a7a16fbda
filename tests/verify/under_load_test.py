#!/usr/bin/python3
"""tidemark verify ends under a feed that never pauses, skips nothing, and lets the feed go on: under_load_test.py TIDEMARK"""
import json
import subprocess
import sys
import tempfile
import threading
import unittest

TIDEMARK = sys.argv.pop(1)
FEEDS = 3
SCHEMA = """
create table orders (id bigint primary key, customer bigint not null, amount numeric(12,2) not null);
create table customers (id bigint primary key, country text not null);
create materialized view everything as select count(*) as n, sum(amount) as total from orders;
create materialized view spending as select customer, count(*) as n, max(amount) as top from orders group by customer;
create materialized view by_country as
  select c.country, o.id, o.amount from orders o join customers c on o.customer = c.id;
create materialized view revenue as select country, sum(amount) as total from by_country group by country;
insert into customers select n, 'country ' || n % 5 from generate_series(0, 49) as n;
"""


class Feed(threading.Thread):
    """Writes orders through one client for ever."""

    def __init__(self, address, number):
        super().__init__(daemon=True)
        self.number, self.ending, self.written = number, False, 0
        self.client = subprocess.Popen([TIDEMARK, "sql", "--connect", address], text=True, stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.failure = None

    def run(self):
        statement = 0
        while not self.ending:
            first = self.number * 1_000_000 + statement % 40 * 50
            rows = ", ".join(f"({first + i}, {(first + i * 7 + statement) % 50}, {statement % 1000}.25)"
                             for i in range(50))
            self.client.stdin.write(f"insert into orders values {rows} on conflict (id) do update "
                                    "set customer = excluded.customer, amount = excluded.amount;\n")
            self.client.stdin.flush()
            answer = self.client.stdout.readline()
            if answer.strip() != "INSERT 0 50":
                self.failure = answer + self.client.stdout.readline()
                return
            statement += 1
            self.written += 1

    def end(self):
        self.ending = True
        self.join(60)
        self.client.stdin.close()
        self.client.wait(60)
        self.client.stdout.close()


class UnderLoadTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.server = subprocess.Popen(
            [TIDEMARK, "up", "--data", self.directory.name, "--listen", "127.0.0.1:0", "--admin-listen",
             "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(self.end_server)
        self.address = self.server.stdout.readline().split("SQL at ")[1].split(",")[0]
        subprocess.run([TIDEMARK, "sql", "--connect", self.address], input=SCHEMA, text=True, check=True,
                       stdout=subprocess.DEVNULL)

    def end_server(self):
        self.server.terminate()
        self.server.wait()
        self.server.stdout.close()

    def test_all_views_are_decided_and_writes_go_on(self):
        feeds = [Feed(self.address, i) for i in range(FEEDS)]
        for feed in feeds:
            feed.start()
        try:
            for _ in range(3):
                done = subprocess.run([TIDEMARK, "verify", "--connect", self.address, "--json"], text=True,
                                      capture_output=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                report = json.loads(done.stdout)
                self.assertEqual([view["verdict"] for view in report["views"]], ["agrees"] * 4, report)
                # One row of a view changes with every write: without a hold no round can agree.
                self.assertGreater(report["held_ms"], 0)
                print(f"held {report['held_ms']} ms after {sum(feed.written for feed in feeds)} statements")
                before = [feed.written for feed in feeds]
                while not all(feed.written > then for feed, then in zip(feeds, before)):
                    self.assertEqual([feed.failure for feed in feeds], [None] * FEEDS)
        finally:
            for feed in feeds:
                feed.end()
        self.assertEqual([feed.failure for feed in feeds], [None] * FEEDS)


if __name__ == "__main__":
    unittest.main()
