"""Small parquet files as pyarrow 26.0.1 writes them, in hexadecimal, one a line after its name.

    python scripts/reference/parquet_files.py > runtime/tests/reference/parquet_files.txt
"""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def show(name, columns, **options):
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file, **options)
    print(name, file.getvalue().hex())


rows = np.arange(5)
numbers = {
    "f": (rows / 2).astype("f4"),
    "d": (-rows / 4).astype("f8"),
    "i8": (rows - 2).astype("i1"),
    "u8": (rows + 250).astype("u1"),
    "i16": (rows - 300).astype("i2"),
    "u16": (rows + 65000).astype("u2"),
    "i32": (rows - 70000).astype("i4"),
    "u32": (rows + 4294967000).astype("u4"),
    "i64": (rows - 2**40).astype("i8"),
    "u64": rows.astype("u8") + np.uint64(2**63),
    "h": (rows / 8).astype("f2"),
    "b": rows % 2 == 0,
}
show("numbers.parquet", numbers, row_group_size=2)
show("gzip.parquet", {"x": rows.astype("f4")}, compression="gzip")
show("plain.parquet", {"x": rows.astype("f4")}, compression="none", use_dictionary=False)
show("empty.parquet", {"x": np.zeros(0, "f4")})
show("text.parquet", {"x": rows.astype("f4"), "name": ["a", "b", "c", "d", "e"]})
show("missing.parquet", {"x": pa.array([1.0, None, 3.0])})
show("lists.parquet", {"x": pa.array([[1.0, 2.0], [3.0]])})
show("dates.parquet", {"day": pa.array([1, 2], pa.date32())})
for packing in ["zstd", "brotli", "lz4"]:
    show(f"{packing}.parquet", {"x": rows.astype("f4")}, compression=packing, row_group_size=3)
lists = np.arange(6, dtype="f4").reshape(3, 2)
show("rows.parquet", {"x": pa.array(list(lists)), "n": pa.array(list(lists.astype("i8")), pa.list_(pa.int64(), 2))}, row_group_size=2)
show("deep.parquet", {"x": pa.array([[[1.0]], [[2.0]]])})
show("gaps.parquet", {"x": pa.array([[1.0, 2.0], [None, 3.0]])})
show("holes.parquet", {"x": pa.array([[1.0, 2.0], None])})
show("shifted.parquet", {"x": pa.array([[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]])})
show("times.parquet", {"t": pa.array([1, 2], pa.timestamp("us"))})
show("decimals.parquet", {"d": pa.array([1, 2], pa.decimal128(5, 2))})
show("bytes.parquet", {"b": pa.array([b"ab", b"c"])})
show("struct.parquet", {"s": pa.array([{"a": 1.0, "b": 2}, {"a": 3.0, "b": 4}])})
