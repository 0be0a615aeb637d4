"""Turns a handler into a WSGI application: methods, parameters, errors, compression. Knows HTTP; knows no log."""

from __future__ import annotations

import gzip
import logging
import zlib
from collections.abc import Callable, Iterable
from typing import Any

from tensorboard.backend import http_util
from werkzeug.wrappers import Request

from tb_layerflow.log.errors import LogError
from tb_layerflow.log.paths import PathError
from tb_layerflow.plugin import parameters
from tb_layerflow.plugin.answers import Answer, NotFound

_log = logging.getLogger("tensorboard")
Environ = dict[str, Any]
Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

COMPRESSED_FROM = 16 * 1024
WORTHWHILE = 0.7
QUICK = 1
"""gzip's quickest level: the page and TensorBoard are mostly on one machine."""


def application(answer: Callable[[Request], Any]) -> Application:
    """A WSGI application that answers GET with what `answer` makes of the request, and all else with a sentence."""

    def run(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        request = Request(environ)
        return _response(request, answer)(environ, start_response)  # type: ignore[no-any-return]

    return run


def handler(spec: str, handle: Callable[..., Answer], opened: Callable[[Request], Any]) -> Application:
    """The application of one route: `handle(opened(request), **parameters)`, the parameters checked against `spec` first."""

    def answer(request: Request) -> Any:
        given = {name: request.args.getlist(name) for name in request.args}
        values = parameters.checked(spec, given)
        made = handle(opened(request), **values)
        return _sent(request, made.body(), made.content_type)

    return application(answer)


def sentence(request: Request, text: str, code: int, headers: list[tuple[str, str]] | None = None) -> Any:
    """A text/plain response."""
    return http_util.Respond(request, text, "text/plain", code=code, headers=headers)


def _response(request: Request, answer: Callable[[Request], Any]) -> Any:
    if request.method != "GET":
        return sentence(request, "LayerFlow only reads: use GET.", 405, [("Allow", "GET")])
    try:
        return answer(request)
    except parameters.BadRequest as error:
        return sentence(request, str(error), 400)
    except (NotFound, PathError) as error:
        return sentence(request, str(error), 404)
    except LogError as error:
        return sentence(request, str(error), 422)
    except Exception as error:  # the last resort: the page gets a sentence, TensorBoard's log the traceback
        _log.exception("LayerFlow could not answer %s", request.path)
        text = f"LayerFlow could not answer this: {type(error).__name__}. TensorBoard's own output says where; please report it."
        return sentence(request, text, 500)


def _sent(request: Request, body: bytes, content_type: str) -> Any:
    """TensorBoard's responder compresses text by itself; it takes other bodies compressed, and unpacks them where need be."""
    if content_type == "application/octet-stream" and _shrinks(body):
        return http_util.Respond(request, gzip.compress(body, QUICK, mtime=0), content_type, content_encoding="gzip")
    return http_util.Respond(request, body, content_type)


def _shrinks(body: bytes) -> bool:
    """Whether compression pays, tried on a piece: most float32 statistics do not shrink, and would cost 40 ms per MB."""
    if len(body) <= COMPRESSED_FROM:
        return False
    middle = len(body) // 2
    piece = body[middle : middle + COMPRESSED_FROM // 2]
    return len(zlib.compress(piece, QUICK)) < WORTHWHILE * len(piece)
