"""Reads {columns, rows, conditions} from stdin and prints, a condition a line, the rows for which SQLite says true."""

import json
import sqlite3
import sys

given = json.load(sys.stdin)
database = sqlite3.connect(":memory:")
database.execute("pragma case_sensitive_like = on")
database.execute("create table t (row integer primary key, %s)" % ", ".join('"%s" %s' % tuple(c) for c in given["columns"]))
for number, row in enumerate(given["rows"]):
    marks = ", ".join("?" * (len(row) + 1))
    database.execute("insert into t values (%s)" % marks, [number, *row])
for condition in given["conditions"]:
    rows = database.execute("select row from t where %s order by row" % condition)
    print(json.dumps([row for (row,) in rows]))
