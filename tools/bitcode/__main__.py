"""`python -m tools.bitcode [FILE...]`: write src/kinegraph/jit/bitcode/ anew; `--check` compares bytes instead.

Run it by `make bitcode`, which installs the versions the files are made with. Names of files limit it to these.
"""

import os

# No optimization here: it happens once, in `finish`, for no processor in particular.
os.environ |= {"NUMBA_OPT": "0", "NUMBA_LOOP_VECTORIZE": "0", "NUMBA_SLP_VECTORIZE": "0"}
os.environ |= {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}

import argparse
import json
import sys
import time
import zlib
from importlib.metadata import version
from multiprocessing import get_context

from kinegraph.jit.bitcode import FOLDER, manifest, name_of
from tools.bitcode.compile import module_of, symbol_of
from tools.bitcode.entries import entries
from tools.bitcode.finish import finished
from tools.bitcode.source import digest

VERSIONS = {
    "python": ".".join(map(str, sys.version_info[:2])),
    **{name: version(name) for name in ("numba", "llvmlite", "numpy")},
}
_FILES, _COUNTED = entries()


def main():
    arguments = _arguments()
    known = manifest()
    if arguments.check and known["versions"] != VERSIONS:
        sys.exit(f"the bitcode is made with {known['versions']}; these are {VERSIONS}")
    chosen = arguments.files or list(_FILES)
    # A process for each file: Numba counts names through, so that bytes would depend on the files before.
    with get_context("fork").Pool(maxtasksperchild=1) as pool:
        made = dict(zip(chosen, pool.imap(_made, chosen, chunksize=1), strict=True))
    text = json.dumps(_manifest(known, made), indent=1) + "\n"
    if arguments.check:
        different = [file for file, (data, _) in made.items() if _committed(file) != data]
        if different or (FOLDER / "manifest.json").read_text() != text:
            sys.exit(f"the bitcode is not what its source gives: {different or 'manifest.json'}; run `make bitcode`")
        return
    for path in FOLDER.glob("*.bc"):
        if path.stem not in _FILES:
            path.unlink()
    for file, (data, _) in made.items():
        (FOLDER / f"{file}.bc").write_bytes(data)
    (FOLDER / "manifest.json").write_text(text)


def _arguments():
    parser = argparse.ArgumentParser(prog="python -m tools.bitcode", description=__doc__)
    parser.add_argument("files", nargs="*", choices=[*_FILES, []], metavar="FILE", help="default: all")
    parser.add_argument("--check", action="store_true", help="write nothing, compare bytes")
    return parser.parse_args()


def _made(file):
    """The compressed bitcode of a file, and what the manifest says of each of its entries."""
    begun = time.perf_counter()
    modules, facts = [], {}
    for function, kinds in _FILES[file]:
        module, layouts = module_of(function, kinds, file in _COUNTED)
        modules.append(module)
        facts[name_of(function)] = {"file": file, "symbol": symbol_of(function), "arguments": layouts}
    symbols = {entry["symbol"] for entry in facts.values()}
    data = zlib.compress(finished(modules, symbols, file in _COUNTED), 9)
    print(f"{file}: {len(data)} bytes, {time.perf_counter() - begun:.1f} s", flush=True)
    return data, facts


def _manifest(known, made):
    """The manifest with the files just made; of other files it keeps what it knows."""
    entries = {}
    for file in _FILES:
        old = {name: facts for name, facts in known["entries"].items() if facts["file"] == file}
        entries |= made[file][1] if file in made else old
    sources = {
        file: digest([function for function, _ in functions]) if file in made else known["sources"].get(file)
        for file, functions in _FILES.items()
    }
    return {"versions": VERSIONS, "sources": sources, "entries": entries}


def _committed(file):
    path = FOLDER / f"{file}.bc"
    return path.read_bytes() if path.exists() else None


if __name__ == "__main__":
    main()
