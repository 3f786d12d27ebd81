"""Reads a directory of exported files with pyarrow and with Polars, and prints what each of them sees, as JSON.

Arguments: the export's directory (`export_id=...`), with the partitions below it.
"""

import datetime
import json
import sys

import polars
import pyarrow.dataset
import pyarrow.parquet


def plain(value):
    return value.isoformat() if isinstance(value, datetime.datetime) else value


def rows_of(table):
    return [{name: plain(value) for name, value in row.items()} for row in table]


def with_pyarrow(root):
    files = pyarrow.dataset.dataset(root, format="parquet", partitioning="hive")
    table = files.to_table()
    ninth = files.to_table(columns=["id"], filter=pyarrow.dataset.field("day") == 9)
    return {
        "types": {field.name: str(field.type) for field in files.schema},
        "nullable": {field.name: field.nullable for field in pyarrow.parquet.read_schema(files.files[0])},
        "rows": rows_of(table.to_pylist()),
        "on_the_9th": ninth.num_rows,
    }


def with_polars(root):
    files = polars.scan_parquet(f"{root}/**/*.parquet", hive_partitioning=True)
    ninth = files.filter(polars.col("day") == 9).select("id").collect()
    return {
        "types": {name: str(kind) for name, kind in files.collect_schema().items()},
        "rows": rows_of(files.collect().to_dicts()),
        "on_the_9th": ninth.height,
    }


directory = sys.argv[1]
print(json.dumps({"pyarrow": with_pyarrow(directory), "polars": with_polars(directory)}))
