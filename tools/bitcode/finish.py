"""Raw modules -> bitcode that depends on no machine and no Python: cleaned as text, optimized once, stripped."""

import re
from pathlib import Path

from llvmlite import binding as llvm

from kinegraph.jit.engine import IMPORTED_FUNCTIONS

_MEMORY = (Path(__file__).parent / "memory.ll").read_text()
_RUNTIME = r"(?:NRT_\w+|nrt_\w+|numba_attempt_nocopy_reshape)"
_EXCEPTION = r"^(@\.const\.picklebuf\.[\d.]+ = internal constant \{ ptr, i32, ptr, ptr, i32 \}) \{.*$"


def finished(modules, symbols, counted):
    """One module of several, as bitcode; nothing but the symbols can be called from outside."""
    first, *others = modules
    for module in others:
        first.link_in(module)
    text = _cleaned(str(first))
    if counted:
        text = _with_own_memory(text)
    module = llvm.parse_assembly(text)
    for item in [*module.functions, *module.global_variables]:
        if not item.is_declaration and item.name not in symbols:
            item.linkage = "internal"
    module.verify()
    _optimize(module)
    _strip(module)
    _check_imports(module)
    return llvm.parse_assembly(_without_names(str(module))).as_bitcode()


def _cleaned(text):
    """Without names that Python's runtime would resolve, and without promises that hashes do not overflow.

    Exceptions go too: nobody reads them, and they hold the paths of the sources on the machine that compiles them.
    """
    text = re.sub(_EXCEPTION, r"\1 zeroinitializer", text, flags=re.M)
    text = re.sub(r"\b(add|sub|mul|shl) (?:nuw )?nsw ", r"\1 ", text)
    text = re.sub(r"^declare .*@(?:llvm\.)?sqrt(?:\.f64)?\(.*\n", "", text, flags=re.M)
    text = re.sub(r"@sqrt\(", "@llvm.sqrt.f64(", text)
    if "@llvm.sqrt.f64(" in text:
        text += "\ndeclare double @llvm.sqrt.f64(double)\n"
    for name, count in IMPORTED_FUNCTIONS.items():
        pattern = rf"@(?:llvm\.)?{name}(?:\.f64)?\("
        if re.search(pattern, text):
            text = re.sub(rf"^declare .*{pattern}.*\n", "", text, flags=re.M)
            text = re.sub(pattern, f"@kinegraph_libm_{name}(", text)
            given = ", ".join(["double"] * count)
            text += f"\ndeclare double @kinegraph_libm_{name}({given}) nounwind willreturn memory(none)\n"
    return re.sub(r"^(define [^\n]*?)( !dbg [^\n]*)? ?\{$", r'\1 "no-builtins" {', text, flags=re.M)


def _with_own_memory(text):
    """Numba's runtime replaced by the functions of `memory.ll`."""
    for name in set(re.findall(rf"^define [^\n]*@({_RUNTIME})\(", text, flags=re.M)):
        text = re.sub(rf"^define [^\n]*@{name}\(.*?^}}\n", "", text, flags=re.M | re.S)
    text = re.sub(rf"^declare [^\n]*@{_RUNTIME}\([^\n]*\n", "", text, flags=re.M)
    return text + _MEMORY


def _machine():
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple("x86_64-unknown-linux-gnu")
    return target.create_target_machine(cpu="", features="", opt=3, reloc="pic", codemodel="small", jit=True)


def _optimize(module):
    options = llvm.create_pipeline_tuning_options(3)
    options.loop_vectorization = options.slp_vectorization = options.loop_interleaving = False
    options.loop_unrolling = True
    builder = llvm.create_pass_builder(_machine(), options)
    builder.getModulePassManager().run(module, builder)


def _strip(module):
    passes = llvm.create_new_module_pass_manager()
    passes.add_strip_symbols_pass()
    passes.add_strip_dead_prototype_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(_machine(), llvm.create_pipeline_tuning_options(2)))


def _without_names(text):
    """Without names in metadata: Numba counts them through, so that they would change with every other file."""
    text = re.sub(r', !"_ZN[^"]*"', "", text)
    return re.sub(r"^!numba_[^\n]*\n", "", text, flags=re.M)


def _check_imports(module):
    declared = [one.name for one in module.functions if one.is_declaration]
    unknown = [name for name in declared if not name.startswith(("llvm.", "kinegraph_"))]
    outside = [one.name for one in module.global_variables if one.is_declaration]
    if unknown or outside:
        raise RuntimeError(f"the module needs what the package does not have: {unknown + outside}")
