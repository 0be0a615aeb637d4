"""What a record takes on disk."""

from __future__ import annotations

from .figure import Figure

RECORDS_AT_LEAST = 20


def measure() -> list[Figure]:
    """All bytes that blocks of recorded steps add to the log, over the records and calls that they add."""
    from tb_layerflow import reader

    from .subject import shared

    subject = shared()
    folder = subject.log_dir

    def now() -> tuple[int, int]:
        stream = reader.LogDir(folder).run(".").stream("train")
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        return size, len(stream.steps) * len(stream.graph.calls)

    subject.block("recorded")  # writes the graph, which a longer training does not write again
    bytes_before, rows_before = now()
    while (now()[1] - rows_before) < RECORDS_AT_LEAST * 90:
        subject.block("recorded")
    bytes_after, rows_after = now()
    size = (bytes_after - bytes_before) / (rows_after - rows_before)
    note = f"of {rows_after - rows_before:,}"
    return [Figure("statistics and histograms on disk, per call and record", size, 400, "bytes", note)]
