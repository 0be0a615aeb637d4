"""What `pip install tb-layerflow` installs. Reading a log needs no TensorFlow; writing one needs the user's own."""

from __future__ import annotations

from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
README = HERE / "README.md"

setup(
    name="tb-layerflow",
    version="0.1.0",
    description="A TensorBoard plugin that shows what flowed through every layer of a Keras or TensorFlow model",
    long_description=README.read_text(encoding="utf-8") if README.exists() else "",
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    packages=find_packages(str(HERE), include=["tb_layerflow", "tb_layerflow.*"]),
    package_data={
        "tb_layerflow": ["static/**", "py.typed"],
        "tb_layerflow.log": ["layerflow.proto"],
        "tb_layerflow.plugin": ["http_api.md"],
    },
    python_requires=">=3.10",
    install_requires=["tensorboard>=2.16", "numpy", "protobuf>=4.25", "werkzeug"],
    extras_require={
        "tensorflow": ["tensorflow>=2.16"],
        "demo": ["scikit-learn", "pillow"],
        "test": ["pytest>=8", "pytest-xdist", "hypothesis>=6", "scikit-learn", "pillow"],
        "lint": ["ruff", "mypy", "types-protobuf", "build"],
    },
    entry_points={
        "tensorboard_plugins": ["layerflow = tb_layerflow.plugin.loader:LayerFlowLoader"],
        "console_scripts": ["layerflow = tb_layerflow.cli:main"],
    },
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: Developers",
        "Intended Audience :: Science/Research",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
)
