"""Programs as LLVM assembly text: one emitter, generic in the number of lanes; one lane is the scalar kernel."""
