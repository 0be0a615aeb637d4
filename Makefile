# Each target does all its own set-up on a fresh machine. The stamps inside the environments make a second run quick.

SHELL := /bin/sh
export TF_CPP_MIN_LOG_LEVEL ?= 3

# The first Python that is new enough and can make an environment (Debian's own may lack ensurepip).
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.10; do \
  $$p -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1 && echo $$p && break; done)

# Python 3.10 itself, not pyenv's shim of it, which may point nowhere.
PYTHON310 ?= $(shell for p in python3.10 "$$HOME"/.pyenv/versions/3.10*/bin/python3.10; do \
  "$$p" -c 'import sys, ensurepip, venv; sys.exit(sys.version_info[:2] != (3, 10))' >/dev/null 2>&1 && echo "$$p" && break; done)

VENV := .venv/.installed
OLDEST := .venv-oldest/.installed
NODE := frontend/node_modules/.installed
PIP := -m pip --disable-pip-version-check -qq install
SERVE ?= 1

# Two processes, each with whole files, so that each starts TensorFlow once. More would only wait for each other's threads.
PYTEST := -m pytest tests --numprocesses 2 --dist loadfile

.PHONY: demo test test-oldest build lint bench page clean chromium

## demo: train two small models on real images and show them in TensorBoard (SERVE=0: stop after writing)
demo: $(VENV)
	SERVE=$(SERVE) .venv/bin/python -m demo

## test: lint, types, the page's unit tests, pytest and the browser tests, on the newest versions
test: lint $(NODE) chromium demo/logs
	cd frontend && npm test --silent
	.venv/bin/python $(PYTEST)

## test-oldest: pytest on Python 3.10, TensorFlow 2.16, Keras 3.3 and TensorBoard 2.16
test-oldest: $(OLDEST)
	.venv-oldest/bin/python $(PYTEST) --ignore=tests/browser

## lint: ruff, mypy and TypeScript
lint: $(VENV) $(NODE)
	.venv/bin/ruff check .
	.venv/bin/mypy
	cd frontend && npm run check --silent

## build: the page, then wheel and sdist in dist/
build: $(VENV) page
	.venv/bin/python -m build --outdir dist .

## page: tb_layerflow/static from frontend/
page: $(NODE)
	cd frontend && npm run build --silent

## bench: the side-by-side measurements of the README's table
bench: $(VENV) $(NODE) chromium
	.venv/bin/python -m bench

clean:
	rm -rf .venv .venv-oldest frontend/node_modules build dist *.egg-info demo/logs

demo/logs:
	$(MAKE) demo SERVE=0 || { rm -rf $@; exit 1; }

# tf_keras asks for `tensorflow`, which tensorflow-cpu is under another name: hence --no-deps.
$(VENV): setup.py pyproject.toml
	@test -n "$(PYTHON)" || { echo "LayerFlow needs Python 3.10 or newer, with venv. Found none on PATH." >&2; exit 1; }
	test -x .venv/bin/python || $(PYTHON) -m venv .venv
	@echo "Installing TensorFlow and what the tests need into .venv. This takes a minute or two."
	.venv/bin/python $(PIP) tensorflow-cpu || .venv/bin/python $(PIP) tensorflow
	.venv/bin/python $(PIP) --editable '.[demo,test,lint]'
	.venv/bin/python $(PIP) --no-deps tf_keras
	touch $@

$(OLDEST): setup.py pyproject.toml
	@test -n "$(PYTHON310)" || { echo "make test-oldest needs Python 3.10: none on PATH and none under ~/.pyenv/versions." >&2; exit 1; }
	test -x .venv-oldest/bin/python || $(PYTHON310) -m venv .venv-oldest
	@echo "Installing the oldest supported versions into .venv-oldest. This takes a minute or two."
	.venv-oldest/bin/python $(PIP) tensorflow-cpu==2.16.2 keras==3.3.3 tensorboard==2.16.2 'setuptools<81' --editable '.[demo,test]'
	.venv-oldest/bin/python $(PIP) --no-deps 'tf_keras==2.16.*'
	touch $@

$(NODE): frontend/package-lock.json
	@command -v npm >/dev/null || { echo "The page's tests need Node.js 20 or newer with npm. Found none on PATH." >&2; exit 1; }
	cd frontend && npm ci --no-audit --no-fund --loglevel=error
	touch $@

chromium:
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	  && apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends chromium >/dev/null; } \
	  || { echo "The browser tests need Chromium, and it can only be installed as root on Debian. Please install chromium." >&2; exit 1; }
