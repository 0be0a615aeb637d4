"""A logdir as TensorBoard's two loaders show it, in this process and without a browser: with the flags that TensorBoard itself
would have after our loader fixed them."""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tensorboard import auth, context, program
from tensorboard.backend.event_processing.data_ingester import LocalDataIngester
from tensorboard.data import server_ingester
from tensorboard.plugins.core import core_plugin
from tensorboard.util import grpc_util

from tb_layerflow.plugin.loader import LayerFlowLoader
from tb_layerflow.plugin.provider import ProviderSource

CONTEXT = context.RequestContext(auth=auth.AuthContext({}, {}))


def flags_for(logdir: object, **given: object) -> argparse.Namespace:
    """TensorBoard's flags for `tensorboard --logdir LOGDIR --name value …`."""
    tensorboard = program.TensorBoard(plugins=[core_plugin.CorePluginLoader(), LayerFlowLoader()])
    arguments = [argument for name, value in given.items() for argument in (f"--{name}", str(value))]
    tensorboard.configure(argv=["tensorboard", "--logdir", str(logdir), *arguments])
    return tensorboard.flags


class Loader:
    """One loader on one logdir. `refresh` makes it see what was written since."""

    data_provider: Any

    def source(self) -> ProviderSource:
        """What the loader shows now, and after each `source.refresh()`."""
        return ProviderSource(self.data_provider, CONTEXT, "")

    def refresh(self) -> None:
        """Returns when what is on the disk now is loaded."""
        raise NotImplementedError

    def close(self) -> None:
        """Stops what was started."""


class Multiplexer(Loader):
    """`--load_fast=false`."""

    def __init__(self, logdir: object, **flags: object) -> None:
        self._ingester = LocalDataIngester(flags_for(logdir, reload_interval=0, reload_task="blocking", **flags))
        self.data_provider = self._ingester.data_provider
        self.refresh()

    def refresh(self) -> None:
        self._ingester.start()


class RustBoard(Loader):
    """`--load_fast=true`: the data server, in a process of its own."""

    def __init__(self, logdir: object, **flags: object) -> None:
        samples = ",".join(f"{name}={kept or 'all'}" for name, kept in flags_for(logdir, **flags).samples_per_plugin.items())
        self._folder = tempfile.TemporaryDirectory(prefix="layerflow-test-")
        port_file = Path(self._folder.name) / "port"
        command = [server_ingester.get_server_binary().path, f"--logdir={logdir}", f"--samples-per-plugin={samples}"]
        command += ["--reload=1", "--port=0", f"--port-file={port_file}", "--die-after-stdin", "--verbose"]
        self._said = Path(self._folder.name) / "said"
        with self._said.open("wb") as said:
            self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=said)
        wait_until(lambda: port_file.exists() and port_file.read_text().endswith("\n"))
        ingester = server_ingester.ExistingServerDataIngester(
            f"localhost:{int(port_file.read_text())}", channel_creds_type=grpc_util.ChannelCredsType.LOCAL
        )
        self.data_provider = ingester.data_provider
        wait_until(lambda: self._times("Finished") > 0)

    def refresh(self) -> None:
        """The server looks each second. A look that began before now may have missed what was written since."""
        begun = self._times("Starting")
        wait_until(lambda: self._times("Finished") > begun)

    def _times(self, event: str) -> int:
        """How often the server has said that it is `Starting`, or has `Finished`, to look at the logdir."""
        return self._said.read_text().count(f"{event} load cycle")

    def close(self) -> None:
        assert self._server.stdin is not None
        self._server.stdin.close()
        try:
            self._server.wait(10)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        self._folder.cleanup()


LOADERS: dict[str, Callable[..., Loader]] = {"multiplexer": Multiplexer, "rustboard": RustBoard}


def wait_until(true: Callable[[], bool], seconds: float = 60) -> None:
    """Returns as soon as `true()` is; AssertionError after `seconds`."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"not true after {seconds} s"
        time.sleep(0.05)
