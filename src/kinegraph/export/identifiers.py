"""Safe names: unique identifiers, and comments that cannot be escaped.

A plain name (ASCII letters, digits and single underscores, a letter first) stays as it is. A reserved word gets an
underscore at its end. Every other name is transliterated: `gamma$L` becomes gamma_L, `угол` ugol, `q1'` q1_dot; long
names are cut. Different names may then be equal, so a `Scope` gives none twice: the second becomes gamma_L_2. Names
that generated code needs for itself end in an underscore and are not a reserved word before it: they differ from these.
"""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterable

from kinegraph.export.transliteration import ascii_spelling, transliterated

#: The shortest limit of all languages is MATLAB's 63; prefix and function name share it.
LONGEST = 30

_LEGAL = re.compile(r"[A-Za-z]\w*", re.ASCII)
#: What a name becomes that has no letters.
_NAMELESS = "name"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_C = _words(
    """auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    asm fortran typeof main errno NULL NAN INFINITY EOF"""
)
_CPP = _C | _words(
    """alignas alignof and and_eq bitand bitor bool catch char8_t char16_t char32_t class co_await co_return co_yield
    compl concept consteval constexpr constinit const_cast decltype delete dynamic_cast explicit export false friend
    module mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
    reinterpret_cast requires static_assert static_cast template this thread_local throw true try typeid typename using
    virtual wchar_t xor xor_eq std T"""
)
_PYTHON = frozenset((*keyword.kwlist, *keyword.softkwlist, "np", "numpy", "range", "tuple", "self"))
_MATLAB = _words(
    """break case catch classdef continue do else elseif end end_try_catch end_unwind_protect endfor endfunction endif
    endparfor endswitch endwhile enumeration events for function global if methods otherwise parfor persistent
    properties return spmd switch try until unwind_protect unwind_protect_cleanup while i j pi e eps Inf NaN ans
    abs acos asin atan atan2 cos cosh exp isnan log max sign sin sinh sqrt tanh zeros reshape"""
)
_JULIA = _words(
    """abstract as baremodule begin break catch ccall const continue do else elseif end export false finally for
    function global if import in isa let local macro module mutable new primitive quote return struct true try type
    using where while outer public Base Core Main pi im eltype promote_type Array Inf NaN abs"""
)
_RUST = _words(
    """abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen if
    impl in let loop macro match mod move mut override priv pub ref return self Self static struct super trait true try
    type typeof union unsafe unsized use virtual where while yield bool char f32 f64 i32 i64 u32 u64 usize str core
    std"""
)

_JAVASCRIPT = _words(
    """arguments await break case catch class const continue debugger default delete do else enum eval export extends
    false finally for function if implements import in instanceof interface let new null package private protected
    public return static super switch this throw true try typeof undefined var void while with yield Math Float64Array
    NaN Infinity globalThis"""
)

#: Functions that generated code calls, and macros predefined by some C compilers.
_CALLED = _words(
    """sin cos sqrt exp log asin acos atan atan2 sinh cosh tanh fabs sign select where ifelse I complex linux unix i386
    near far min max"""
)
_CALLED |= {f"{name}f" for name in _CALLED}

#: Functions that Fortran code calls. In Fortran, Sin and sin are the same name.
_FORTRAN_CALLED = _words("sin cos sqrt exp log asin acos atan atan2 sinh cosh tanh abs all kind")

#: Words that no identifier may be; a word reserved in one language is avoided in all, so that names agree.
RESERVED = _C | _CPP | _PYTHON | _MATLAB | _JULIA | _RUST | _JAVASCRIPT | _CALLED

#: File names that belong to a language or a system. Such a file beside the user's own is found first: with a
#: `numbers.py` Python cannot start, with a `math.h` a C program has no sine, and Windows writes no `con.h`.
_HEADERS = _words(
    """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic
    stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype
    aio alloca conio cpio crypt dirent direct dlfcn elf endian err error fcntl features fmtmsg fnmatch ftw getopt glob
    grp iconv ieeefp io langinfo libgen link linux malloc memory monetary mqueue ndbm netdb nl_types paths poll process
    pthread pty pwd regex sched search semaphore share spawn strings stropts syslog tar termios ucontext ulimit unistd
    utime utmpx values varargs windows wordexp"""
)
_CRATES = _words("alloc core proc_macro std test")
_MODULES = sys.stdlib_module_names | _words("numpy scipy sympy casadi matplotlib kinegraph test tests setup conftest")
_DEVICES = _words("con prn aux nul clock") | {f"{port}{number}" for port in ("com", "lpt") for number in range(10)}
TAKEN_FILES = frozenset(name.casefold() for name in _HEADERS | _CRATES | _MODULES | _DEVICES)


def identifier(name: str, longest: int = LONGEST) -> str:
    """The identifier of a name, the same in every language."""
    found = name if is_legal(name, longest) else _spelled(name, longest)
    return f"{found}_" if found in RESERVED or found.casefold() in _FORTRAN_CALLED else found


def is_legal(name: str, longest: int = LONGEST) -> bool:
    """Whether a name is a valid identifier, apart from reserved words."""
    return len(name) <= longest and _LEGAL.fullmatch(name) is not None and "__" not in name and not name.endswith("_")


def _spelled(name: str, longest: int) -> str:
    words = transliterated(name) or _NAMELESS
    words = words if words[0].isalpha() else f"n{words}"
    return words[:longest].rstrip("_")


def prefix(name: str) -> str:
    """The prefix of files and functions of a model: `double-pendulum` becomes double_pendulum.

    An export has only one prefix, so no names need to be told apart. The name of a file of some language or system gets
    an underscore, like reserved words.
    """
    found = identifier(name)
    return f"{found}_" if found.casefold() in TAKEN_FILES else found


class Scope:
    """Gives out identifiers, none twice, not even in another case: some file systems ignore it."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = {name.casefold() for name in taken}

    def take(self, *candidates: str) -> str:
        """The first candidate whose identifier is free, or the last one with a number."""
        for candidate in candidates:
            found = identifier(candidate)
            if self._free(found):
                return found
        stem, number = identifier(candidates[-1]).rstrip("_"), 2
        while not self._free(f"{stem}_{number}"):
            number += 1
        return f"{stem}_{number}"

    def _free(self, found: str) -> bool:
        if found.casefold() in self._taken:
            return False
        self._taken.add(found.casefold())
        return True


_HARMLESS = re.compile(r"[A-Za-z0-9 _.,:;+=()\[\]'^$@!~|&/-]")


def comment(text: str, longest: int = 120) -> str:
    """Text of a model for a comment of any language: one line, no character that ends, opens or continues one.

    Letters of other alphabets are transliterated.
    """
    shortened = text if len(text) <= longest else text[: longest - 3] + "..."
    return "".join(map(_in_comment, shortened))


def _in_comment(letter: str) -> str:
    spelled = letter if letter.isascii() else ascii_spelling(letter)
    return spelled if all(map(_HARMLESS.fullmatch, spelled)) else f"<U+{ord(letter):04X}>"
