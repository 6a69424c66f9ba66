"""`python -m tools.bitcode`: write src/kinegraph/jit/bitcode/ anew; `--check` compares bytes instead.

Run it by `make bitcode`, which installs the versions the files are made with.
"""

import os

# No optimization here: it happens once, in `finish`, for no processor in particular.
os.environ |= {"NUMBA_OPT": "0", "NUMBA_LOOP_VECTORIZE": "0", "NUMBA_SLP_VECTORIZE": "0"}
os.environ |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}

import json
import sys
import time
import zlib
from importlib.metadata import version

from kinegraph.jit.bitcode import FOLDER, name_of
from tools.bitcode.compile import module_of, symbol_of
from tools.bitcode.entries import entries
from tools.bitcode.finish import finished
from tools.bitcode.source import digest


def main():
    check = "--check" in sys.argv
    files, counted = entries()
    manifest = {"versions": {name: version(name) for name in ("numba", "llvmlite")}, "sources": {}, "entries": {}}
    different = []
    for file, functions in files.items():
        begun = time.perf_counter()
        modules = []
        for function, kinds in functions:
            module, layouts = module_of(function, kinds, file in counted)
            modules.append(module)
            facts = {"file": file, "symbol": symbol_of(function), "arguments": layouts}
            manifest["entries"][name_of(function)] = facts
        symbols = {symbol_of(function) for function, _ in functions}
        data = zlib.compress(finished(modules, symbols, file in counted), 9)
        manifest["sources"][file] = digest([function for function, _ in functions])
        path = FOLDER / f"{file}.bc"
        if not path.exists() or path.read_bytes() != data:
            different.append(file)
        if not check:
            path.write_bytes(data)
        print(f"{file}: {len(data)} bytes, {time.perf_counter() - begun:.1f} s", flush=True)
    text = json.dumps(manifest, indent=1) + "\n"
    if check:
        if different or (FOLDER / "manifest.json").read_text() != text:
            sys.exit(f"the bitcode is not what its source gives: {different or 'manifest.json'}; run `make bitcode`")
        return
    for path in FOLDER.glob("*.bc"):
        if path.stem not in files:
            path.unlink()
    (FOLDER / "manifest.json").write_text(text)


main()
