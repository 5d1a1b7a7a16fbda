#!/usr/bin/python3
"""Compiles and runs JdbcTest.java against the server."""
import os
import subprocess
import sys
import tempfile

DRIVER = "/usr/share/java/postgresql.jar"
HERE = os.path.dirname(os.path.abspath(__file__))

with tempfile.TemporaryDirectory() as classes:
    subprocess.run(["javac", "-Xlint:all", "-cp", DRIVER, "-d", classes, os.path.join(HERE, "JdbcTest.java")], check=True)
    sys.exit(subprocess.run(["java", "-ea", "-cp", f"{classes}:{DRIVER}", "JdbcTest"]).returncode)
