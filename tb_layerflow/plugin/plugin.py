"""What TensorBoard asks a plugin: its name, its tab, its routes. Knows no log; the routes do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tensorboard import plugin_util
from tensorboard.backend import http_util
from tensorboard.plugins import base_plugin
from werkzeug.wrappers import Request

from tb_layerflow.plugin import serving, static_files
from tb_layerflow.plugin.loader import PLUGIN_NAMES
from tb_layerflow.plugin.logs import Logs
from tb_layerflow.plugin.provider import ProviderSource
from tb_layerflow.plugin.routes import ROUTES
from tb_layerflow.reader import LogDir

STATIC = Path(__file__).parent.parent / "static"


class LayerFlowPlugin(base_plugin.TBPlugin):
    """The LayerFlow tab."""

    plugin_name = "layerflow"

    def __init__(self, context: base_plugin.TBContext) -> None:
        self._data_provider = context.data_provider
        self._logdir = _logdir_of(context)
        self._logs = Logs()

    def get_plugin_apps(self) -> Mapping[str, serving.Application]:
        """Every route below `data/plugin/layerflow`."""
        routes = {route.path: serving.handler(route.parameters, route.handle, self._log) for route in ROUTES}
        return {"/static/*": serving.application(_static), **routes}

    def is_active(self) -> bool:
        """False: TensorBoard asks only where the data provider lists no data of ours, which it has then just looked up."""
        return False

    def data_plugin_names(self) -> tuple[str, ...]:
        """The names our data carries; either makes the tab active."""
        return PLUGIN_NAMES

    def frontend_metadata(self) -> base_plugin.FrontendMetadata:
        """The module that TensorBoard's frame loads, and the tab's name."""
        return base_plugin.FrontendMetadata(es_module_path="/static/index.js", tab_name="LayerFlow")

    def _log(self, request: Request) -> LogDir:
        experiment = plugin_util.experiment_id(request.environ)
        context = plugin_util.context(request.environ)
        return self._logs.get(experiment, lambda: ProviderSource(self._data_provider, context, experiment, self._logdir))


def _logdir_of(context: base_plugin.TBContext) -> str:
    """The folder given as `--logdir`; empty where TensorBoard was started in another way."""
    if getattr(context.flags, "logdir_spec", ""):
        return ""
    return str(context.logdir or getattr(context.flags, "logdir", "") or "")


def _static(request: Request) -> Any:
    name = request.path.partition("/static/")[2]
    found = static_files.read(STATIC, name)
    if found is None:
        return serving.sentence(request, "The page has no such file.", 404)
    return http_util.Respond(request, *found)
