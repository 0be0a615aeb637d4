"""The entry module that TensorBoard imports at start-up: standard library and TensorBoard's base plugin, all else inside load().

An exception while this module is imported would stop TensorBoard itself.
"""

from __future__ import annotations

from tensorboard.plugins import base_plugin

TYPE_CHECKING = False  # as typing's, whose import would be most of this module's
if TYPE_CHECKING:
    from argparse import Namespace

    from tb_layerflow.plugin.plugin import LayerFlowPlugin

PLUGIN_NAMES = ("layerflow", "layerflow_statistics")
EVERY_RECORD = 1_000_000
"""Records kept per tag. TensorBoard's own default for an unknown plugin is 10, chosen at random."""


class LayerFlowLoader(base_plugin.TBLoader):
    """Makes the plugin, or leaves TensorBoard without it and says why."""

    def fix_flags(self, flags: Namespace) -> None:
        """Keep every record of ours, under both loaders, unless the user's own `--samples_per_plugin` says otherwise.

        A user's 0 is taken as all: the data server reads it so, but people report that it showed nothing.
        """
        kept = getattr(flags, "samples_per_plugin", None)
        if not isinstance(kept, dict):
            return
        for name in PLUGIN_NAMES:
            kept[name] = kept.get(name) or EVERY_RECORD

    def load(self, context: base_plugin.TBContext) -> LayerFlowPlugin | None:
        """The plugin; None, with one line in TensorBoard's log, where it cannot be made."""
        try:
            from tb_layerflow.plugin.plugin import LayerFlowPlugin

            return LayerFlowPlugin(context)
        except Exception as error:
            import logging

            logging.getLogger("tensorboard").warning("LayerFlow is not shown: %s: %s", type(error).__name__, error)
            return None
