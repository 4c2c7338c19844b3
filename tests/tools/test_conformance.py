# SPDX-License-Identifier: BSD-2-Clause
"""Does the table of rules say what the tests that name a rule came to, and nothing better?"""
import os
from pathlib import Path

import pytest

from conformance_lib import naming, results, rules, table

ROOT = Path(__file__).resolve().parents[2]
HEAD = "# Group\n" + "\t".join(rules.HEAD) + "\n"
LIST = HEAD + """\
PCI-CAP-01	MUST	4.1	applies	One.	
PCI-CAP-02	SHOULD	4.1	applies	Two.	
PCI-CAP-03	MAY	4.1	out	Three.	not used
PCI-CAP-04	DESC	4.1	applies	Four.	
ZONE-01	MUST	5.2	later	Five.	zoned
CONF-01	MUST	7.1	whole	All.	
"""


@pytest.fixture
def loaded(tmp_path):
    def loaded(text=LIST):
        path = tmp_path / "rules.tsv"
        path.write_text(text, encoding="utf-8")
        return rules.load(path)
    return loaded


@pytest.fixture
def names(loaded):
    return rules.Names(loaded())


@pytest.mark.parametrize("line, reason", [
    ("PCI-CAP-1\tMUST\t4.1\tapplies\tx\t", "is no id"),
    ("PCI-CAP-01\tWILL\t4.1\tapplies\tx\t", "'WILL' is none of: MUST, MUST NOT"),
    ("PCI-CAP-01\tMUST\t4.1\tmaybe\tx\t", "'maybe' is none of: applies"),
    ("PCI-CAP-01\tMUST\t4.1\tapplies\tx\twhy", "a reason is given for"),
    ("PCI-CAP-01\tMUST\t4.1\tout\tx\t", "a reason is given for"),
    ("PCI-CAP-01\tMUST\t4.1\tapplies\tx", "5 columns, not 6"),
    ("PCI-CAP-01\tMUST\t4.1\tapplies\tx\t\nPCI-CAP-01\tMUST\t4.1\tapplies\tx\t", "there twice"),
    ("", "no rules"),
])
def test_broken_lists(loaded, line, reason):
    with pytest.raises(rules.Broken, match=reason):
        loaded(HEAD + line + "\n")


def test_the_list_has_all_rows():
    rows = rules.load(ROOT / "docs/conformance-rules.tsv").values()
    assert sum(row.normative for row in rows) == 208
    assert sum(not row.normative for row in rows) == 86
    assert {row.why for row in rows if row.kind == "later"} <= {"block commands", "zoned"}


C_SOURCE = """\
/* PCI-CAP-04 in the comment of the file names nothing. */
#include "x.h"

static const struct row table[] = {
	{"PCI-CAP-01: text"},
};

/* PCI-CAP-02/03 */
static void helper(int x)
{
	use(x);
}

static void uses_helper(void **state)
{
	helper(1);
}

static void uses_table(void **state)
{
	look(table);
}

/* ZONE-01 */
static void names_itself(void **state)
{
	uses_nothing(); /* PCI-CAP-04 */
}

int main(void)
{
	run(uses_helper);
}
"""


def test_names_in_c(names):
    assert naming.c_names(C_SOURCE, names, "x.c") == {
        "uses_helper": {"PCI-CAP-02", "PCI-CAP-03"}, "uses_table": {"PCI-CAP-01"},
        "names_itself": {"ZONE-01", "PCI-CAP-04"}}


def test_unknown_rules_are_named(names):
    with pytest.raises(rules.Broken, match="x.c: uses_helper names PCI-CAP-09"):
        naming.c_names(C_SOURCE.replace("helper(1)", "helper(1) /* PCI-CAP-09 */"), names, "x.c")
    with pytest.raises(rules.Broken, match="test_a names NOPE-01"):
        naming.py_names("@pytest.mark.conformance('NOPE-01')\ndef test_a(): pass", names, "x.py")


def test_names_in_python(names):
    source = """\
@pytest.mark.conformance("PCI-CAP-01", "ZONE-01")
@pytest.mark.parametrize("a", [pytest.param(1, marks=pytest.mark.conformance("PCI-CAP-02"))])
def test_a(a):
    '''PCI-CAP-03'''

def test_b():
    pass
"""
    assert naming.py_names(source, names, "x.py") == {
        "test_a": {"PCI-CAP-01", "PCI-CAP-02", "ZONE-01"}, "test_b": set()}


def test_unit_results(tmp_path):
    path = tmp_path / "unit.tsv"
    path.write_text("test_a\tone\tpassed\ntest_a-tsan\tone\tfailed\ntest_a\ttwo\tskipped\n")
    assert results.read_unit(path) == {("test_a", "one"): "failed", ("test_a", "two"): "skipped"}
    path.write_text("test_a one passed\n")
    with pytest.raises(rules.Broken, match="is no result"):
        results.read_unit(path)


def test_boot_results(tmp_path):
    path = tmp_path / "boot.xml"
    path.write_text("""<testsuites><testsuite>
<testcase classname="tests.boot.test_x" name="test_a[1]"/>
<testcase classname="tests.boot.test_x" name="test_a[2]"><failure>no</failure></testcase>
<testcase classname="tests.boot.test_x" name="test_b[1]"><skipped/></testcase>
<testcase classname="tests.boot.test_x" name="test_b[2]"/>
</testsuite></testsuites>""")
    assert results.read_boot(path) == {("test_x", "test_a"): "failed", ("test_x", "test_b"): "passed"}


def test_old_records_do_not_count(tmp_path):
    record, source = tmp_path / "record", tmp_path / "source"
    source.touch()
    assert not results.fresh(record, source)
    record.touch()
    assert results.fresh(record, source)
    os.utime(source, (record.stat().st_mtime + 1,) * 2)
    assert not results.fresh(record, source)


def states(loaded, named, outcome):
    tests = {id: {("t", case) for case in cases.split()} for id, cases in named.items()}
    outcome = {("t", case): word for case, word in outcome.items()}
    rows = table.judge(loaded(), tests, outcome, set())
    return {row.rule.id: row.state for row in rows}, rows


@pytest.mark.parametrize("outcome, state", [
    ({"a": "passed"}, table.COVERED), ({"a": "failed"}, table.FAILED), ({}, table.OPEN),
    ({"a": "skipped"}, table.OPEN), ({"a": "passed", "b": "failed"}, table.FAILED),
    ({"a": "skipped", "b": "passed"}, table.COVERED),
])
def test_what_a_rule_comes_to(loaded, outcome, state):
    got, _ = states(loaded, {"PCI-CAP-01": "a b", "PCI-CAP-02": "ok"}, outcome | {"ok": "passed"})
    assert got == {"PCI-CAP-01": state, "PCI-CAP-02": table.COVERED, "PCI-CAP-03": table.OUT,
                   "PCI-CAP-04": table.OPEN, "ZONE-01": table.LATER,
                   "CONF-01": table.COVERED if state == table.COVERED else table.OPEN}


def test_what_is_printed(loaded):
    _, rows = states(loaded, {"PCI-CAP-01": "a", "PCI-CAP-02": "b"}, {"a": "passed", "b": "failed"})
    assert table.summary(rows) == (
        "5 normative rules: 1 covered, 1 out of scope, 1 later, 1 open, 1 failed\n"
        "1 descriptive rules: 1 open")
    assert "PCI-CAP-02      SHOULD     failed         t:b (failed)\n" in table.text(rows)
    assert "| PCI-CAP-03 | MAY | 4.1 | Three. | out of scope | not used |" in table.document(rows)
