"""The event file of two steps, as TensorBoard writes it, in hexadecimal.

Writes runtime/tests/reference/events.txt. Made with tensorboard 2.21.0:

    python scripts/reference/events.py > runtime/tests/reference/events.txt
"""

import io

from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.record_writer import RecordWriter


def event(wall_time, **fields):
    return event_pb2.Event(wall_time=wall_time, **fields)


def summary(*values):
    return summary_pb2.Summary(
        value=[summary_pb2.Summary.Value(tag="loss", simple_value=v) for v in values]
    )


file = io.BytesIO()
writer = RecordWriter(file)
for e in [
    event(1000.5, file_version="brain.Event:2"),
    event(1001.0, step=3, summary=summary(0.25, -1.0)),
    event(1002.25, step=-1, summary=summary(float("inf"))),
]:
    writer.write(e.SerializeToString())
print(file.getvalue().hex())
