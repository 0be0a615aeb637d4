"""The route of receptive windows: what part of every earlier map one number depends on. Knows no HTTP and no values."""

from __future__ import annotations

from collections.abc import Mapping

from tb_layerflow.analysis.regions import Region
from tb_layerflow.analysis.windows import Place, receptive_window
from tb_layerflow.log import paths
from tb_layerflow.plugin.answers import Answer, Json
from tb_layerflow.plugin.parameters import BadRequest
from tb_layerflow.plugin.values_route import box
from tb_layerflow.reader import LogDir, Stream


def windows(log: LogDir, run: str, stream: str, step: int, path: str, index: tuple[int, ...], port: int = 0) -> Answer:
    """The window of one number of an output in the output of each call that it came from."""
    found = log.run(run).stream(stream)
    graph = found.graph_at(step)
    shapes, batch_size = _kept(found, step)
    try:
        regions = receptive_window(
            graph.record, paths.resolve(graph.paths, path), index, port=port, batch_size=batch_size, shapes=shapes
        )
    except IndexError as error:
        raise BadRequest(str(error)) from error
    rows = [_row(place, region) for place, region in sorted(regions.items())]
    return Json({"step": step, "index": index, "windows": rows})


def _kept(found: Stream, step: int) -> tuple[Mapping[Place, tuple[int, ...]], int | None]:
    """The shapes of the recorded arrays, for sizes that the graph leaves open, and of how many samples the step's batch was."""
    records = found.records
    at = records.step.tolist().index(step) if step in records.step else -1
    batch = float(records.batch_size[at]) if at >= 0 else 0.0
    try:
        manifest = found.values.manifest(step)
    except paths.PathError:
        return {}, int(batch) or None
    shapes = {(value.call, value.port): value.shape for value in manifest.values if value.kind == "output"}
    return shapes, int(batch) or None


def _row(place: Place, region: Region) -> dict[str, object]:
    call, port = place
    return {"call": call, "port": port, "box": box(region.box), "unclipped": box(region.unclipped), "reason": region.reason}
