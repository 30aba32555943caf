# SPDX-License-Identifier: BSD-3-Clause
"""The package of this tree, with the library of $LIBAMBIT or build/; a context per test."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

import pytest

import ambit


@pytest.fixture(autouse=True)
def context():
    """strict: what NumPy computes in the same order is the same, bit for bit."""
    with ambit.open(strict=True, devices="cpu", threads=2) as a:
        yield a


def pytest_terminal_summary(terminalreporter):
    """Skipped is not passed: tests/meta/run_tests.py counts and lists these lines."""
    for report in terminalreporter.stats.get("skipped", []):
        terminalreporter.write_line(f"ok - {report.nodeid} # SKIP {report.longrepr[2]}")
