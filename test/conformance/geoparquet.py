"""
The view of pyarrow (and geopandas, if there) of Parquet files, and files that they write.

geoparquet.py view FILE      prints a JSON object about a file
geoparquet.py write FOLDER   writes files, and expected.json with the rows that each must have
"""

import base64
import datetime
import decimal
import json
import struct
import sys

import pyarrow as pa
import pyarrow.parquet as pq

EPOCH = datetime.datetime(1970, 1, 1)


def plain(value):
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime.datetime):
        return str(value.astimezone(datetime.timezone.utc).replace(tzinfo=None)) if value.tzinfo else str(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return str(value)
    if isinstance(value, decimal.Decimal):
        return float(value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53:
        return str(value)
    return value


def view(path):
    file = pq.ParquetFile(path)
    table = file.read()
    metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    statistics = {}
    group = file.metadata.row_group(0) if file.metadata.num_row_groups else None
    for c in range(group.num_columns if group else 0):
        column = group.column(c)
        found = column.statistics
        if found is not None and found.has_min_max:
            statistics[column.path_in_schema] = [plain(found.min), plain(found.max), found.null_count]
    result = {
        "types": {field.name: str(field.type) for field in table.schema},
        "rows": [plain(row) for row in table.to_pylist()],
        "groups": [file.metadata.row_group(g).num_rows for g in range(file.metadata.num_row_groups)],
        "geo": json.loads(metadata["geo"]) if "geo" in metadata else None,
        "statistics": statistics,
    }
    try:
        import geopandas

        frame = geopandas.read_parquet(path)
        result["epsg"] = frame.crs.to_epsg() if frame.crs else None
        result["bounds"] = list(frame.total_bounds)
    except ImportError:
        pass
    print(json.dumps(result))


def point(x, y):
    return struct.pack("<BIdd", 1, 1, x, y)


def write(folder):
    count = 3000
    some = lambda values: [None if k % 7 == 0 else value for k, value in enumerate(values)]
    numbers = range(count)
    day = datetime.date(1900, 1, 1)
    columns = {
        "b": pa.array(some([k % 3 == 0 for k in numbers])),
        "i8": pa.array(some([k % 256 - 128 for k in numbers]), pa.int8()),
        "u32": pa.array(some([k * 858993 % 2**32 for k in numbers]), pa.uint32()),
        "i64": pa.array(some([k * 3689348814741910 % 2**64 - 2**63 for k in numbers]), pa.int64()),
        "f": pa.array(some([k * 0.1 for k in numbers])),
        "s": pa.array(some(["α%d" % k for k in numbers])),
        "c": pa.array(some(["category %d" % (k % 5) for k in numbers])).dictionary_encode(),
        "d": pa.array(some([decimal.Decimal(k * 7 - 1000) / 100 for k in numbers]), pa.decimal128(9, 2)),
        "bin": pa.array(some([bytes([k % 256, 0]) for k in numbers])),
        "date": pa.array(some([day + datetime.timedelta(days=13 * k) for k in numbers])),
        "l": pa.array(some([[1, None, k] if k % 3 else [] for k in numbers]), pa.list_(pa.int32())),
        "st": pa.array(some([{"a": k, "b": "x" if k % 2 else None} for k in numbers])),
    }
    expected = [dict(zip(columns, values)) for values in zip(*(column.to_pylist() for column in columns.values()))]
    geometry = [None if k % 11 == 0 else point(k / 10, -k / 100) for k in numbers]
    geo = {
        "version": "1.1.0",
        "primary_column": "geometry",
        "columns": {"geometry": {"encoding": "WKB", "geometry_types": ["Point"]}},
    }
    table = pa.table({**columns, "geometry": pa.array(geometry, pa.binary())})
    table = table.replace_schema_metadata({"geo": json.dumps(geo)})
    delta = {"i8": "DELTA_BINARY_PACKED", "u32": "DELTA_BINARY_PACKED", "i64": "DELTA_BINARY_PACKED"}
    delta |= {"s": "DELTA_BYTE_ARRAY", "f": "BYTE_STREAM_SPLIT", "geometry": "DELTA_LENGTH_BYTE_ARRAY"}
    variants = {codec: {"compression": codec} for codec in ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]}
    variants |= {f"plain-{codec}": {"compression": codec, "use_dictionary": False} for codec in list(variants)}
    variants["v2"] = {"data_page_version": "2.0", "data_page_size": 2000}
    variants["checksum"] = {"write_page_checksum": True, "data_page_size": 2000}
    variants["groups"] = {"row_group_size": 700, "data_page_size": 1000}
    variants["delta"] = {"use_dictionary": False, "column_encoding": delta, "data_page_size": 2000}
    for name, settings in variants.items():
        pq.write_table(table, f"{folder}/{name}.parquet", **settings)
    with open(f"{folder}/expected.json", "w") as file:
        json.dump({"files": list(variants), "rows": [plain(row) for row in expected]}, file)


if sys.argv[1] == "view":
    view(sys.argv[2])
else:
    write(sys.argv[2])
