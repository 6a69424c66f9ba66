"""What bitcode is made of, as text: the digest of the source says whether a file is in step with it. No Numba here."""

import ast
import inspect
import textwrap
from hashlib import sha256

from kinegraph.jit.marks import kind_of


def digest(functions):
    """A digest of functions and all that they reach; comments, docstrings and annotations do not count."""
    texts = {}
    for function in functions:
        _collect(function, texts)
    return sha256("\n".join(f"{name}\n{texts[name]}" for name in sorted(texts)).encode()).hexdigest()


def _collect(function, texts):
    name = f"{function.__module__}:{function.__qualname__}"
    if name in texts:
        return
    texts[name] = _bare(function)
    for used in sorted(set(function.__code__.co_names)):
        value = function.__globals__.get(used)
        if kind_of(value):
            _collect(value, texts)
        elif isinstance(value, int | float | tuple | str) and not isinstance(value, type):
            texts[f"{name} {used}"] = repr(value)
        elif hasattr(value, "_fields"):
            texts[f"{name} {used}"] = repr(value._fields)


def _bare(function):
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if ast.get_docstring(tree) is not None:
        tree.body = tree.body[1:] or [ast.Pass()]
    tree.returns = None
    for argument in [*tree.args.args, *tree.args.kwonlyargs]:
        argument.annotation = None
    return ast.unparse(tree)
