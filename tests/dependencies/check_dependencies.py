#!/usr/bin/env python3
"""Fails when a core depends on what it must not: see README.md.

usage: check_dependencies.py <source directory> <build directory>

Reads what the compiler said about each object (ninja -t deps), so that nothing hides behind another header.
"""

import functools
import pathlib
import re
import subprocess
import sys

# Never in a core, however deep.
LIBRARIES = {
    "Asio": re.compile(r"/asio(\.hpp|/)"),
    "ZooKeeper": re.compile(r"/zookeeper/"),
    "librdkafka": re.compile(r"/librdkafka/"),
    "RocksDB": re.compile(r"/rocksdb/"),
}

# Never named by a file of ours in a core. (Standard headers include some of them among themselves.)
HEADERS = {
    "clock": "chrono ctime time.h sys/time.h sys/timerfd.h",
    "thread": "atomic barrier condition_variable coroutine future latch mutex pthread.h semaphore semaphore.h "
              "shared_mutex stop_token thread",
    "socket": "arpa/inet.h netdb.h netinet/in.h poll.h sys/epoll.h sys/socket.h sys/un.h",
    "file": "fcntl.h filesystem fstream sys/mman.h sys/stat.h unistd.h",
}
KIND_OF_HEADER = {header: kind for kind, headers in HEADERS.items() for header in headers.split()}

# Folders that share nothing with the rest of the project, and what they may include of it all the same.
ALONE = {"hashring": (), "verify": ("base",)}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def parse_ninja_deps(text):
    """{object: [dependency]} of the objects that are up to date."""
    deps = {}
    current = None
    for line in text.splitlines():
        if line.startswith("    "):
            if current is not None:
                deps[current].append(line.strip())
        elif ": #deps" in line:
            current = line.split(": #deps")[0] if "(VALID)" in line else None
            if current is not None:
                deps[current] = []
    return deps


class Checker:
    def __init__(self, source, build):
        self.source = pathlib.Path(source).resolve()
        self.build = pathlib.Path(build).resolve()

    @functools.cache  # The same headers come with every object.
    def resolved(self, dependency):
        path = pathlib.Path(dependency)
        return (path if path.is_absolute() else self.build / path).resolve()

    def project_file(self, dependency):
        """The path below the source directory, or None for a file that is not ours (or generated)."""
        path = self.resolved(dependency)
        if path.is_relative_to(self.build) or not path.is_relative_to(self.source):
            return None
        return path.relative_to(self.source)

    def of_alone(self, folder, may_include, obj, dependencies):
        """A folder that includes nothing of the project but itself and what it may."""
        allowed = [self.source / name for name in (folder, *may_include)]
        for dependency in dependencies:
            path = self.resolved(dependency)
            inside = path.is_relative_to(self.source) or path.is_relative_to(self.build)
            if inside and not any(path.is_relative_to(name) for name in allowed):
                yield f"{obj}: {folder} includes {dependency}; of the project it may include {may_include or 'nothing'}"

    def of_core(self, obj, dependencies):
        for name, pattern in LIBRARIES.items():
            # One of its headers says enough.
            for dependency in filter(pattern.search, dependencies):
                yield f"{obj}: a core includes {name}: {dependency}"
                break
        for dependency in dependencies:
            path = self.project_file(dependency)
            if path is not None:
                yield from self.named_headers(path)

    @functools.cache
    def named_headers(self, path):
        text = (self.source / path).read_text(encoding="utf-8", errors="replace")
        return [
            f"{path}: a core includes a {KIND_OF_HEADER[header]} header: <{header}>"
            for header in INCLUDE.findall(text)
            if header in KIND_OF_HEADER
        ]

    def violations(self, deps, core_objects):
        """Sorted, each once. `core_objects` must all be built."""
        found = set()
        for obj, dependencies in deps.items():
            folder = obj.split("/")[0]
            if folder in ALONE:
                found.update(self.of_alone(folder, ALONE[folder], obj, dependencies))
        for obj in core_objects:
            if obj not in deps:
                found.add(f"{obj}: not built, so not checked; build first")
                continue
            found.update(self.of_core(obj, deps[obj]))
        return sorted(found)


def main(source, build):
    checker = Checker(source, build)
    text = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, capture_output=True, text=True).stdout
    lines = (checker.build / "core-objects.txt").read_text().split()
    core_objects = [str(pathlib.Path(line).resolve().relative_to(checker.build)) for line in lines]
    found = checker.violations(parse_ninja_deps(text), core_objects)
    for line in found:
        print(line)
    print(f"{len(core_objects)} objects of cores checked, {len(found)} violations")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2]))
