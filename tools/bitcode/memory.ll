
; Memory of arrays that compiled functions make, in place of Numba's runtime: a block begins with the number of its
; references, and 24 bytes on is the address of its data, as Numba reads it.
declare ptr @kinegraph_malloc(i64)
declare void @kinegraph_free(ptr)

define internal ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %all = add i64 %size, 128
  %block = call ptr @kinegraph_malloc(i64 %all)
  %none = icmp eq ptr %block, null
  br i1 %none, label %end, label %some
some:
  store i64 1, ptr %block
  %first = ptrtoint ptr %block to i64
  %far = add i64 %first, 127
  %even = and i64 %far, -64
  %data = inttoptr i64 %even to ptr
  %place = getelementptr i8, ptr %block, i64 24
  store ptr %data, ptr %place
  br label %end
end:
  ret ptr %block
}

define internal void @NRT_incref(ptr %block) {
  %none = icmp eq ptr %block, null
  br i1 %none, label %end, label %some
some:
  %n = load i64, ptr %block
  %m = add i64 %n, 1
  store i64 %m, ptr %block
  br label %end
end:
  ret void
}

define internal void @NRT_decref(ptr %block) {
  %none = icmp eq ptr %block, null
  br i1 %none, label %end, label %some
some:
  %n = load i64, ptr %block
  %m = sub i64 %n, 1
  store i64 %m, ptr %block
  %last = icmp eq i64 %m, 0
  br i1 %last, label %free, label %end
free:
  call void @kinegraph_free(ptr %block)
  br label %end
end:
  ret void
}

; The strides of a contiguous array of another shape; only contiguous arrays are reshaped.
define internal i32 @numba_attempt_nocopy_reshape(i64 %nd, ptr %dims, ptr %strides, i64 %newnd, ptr %newdims, ptr %newstrides, i64 %itemsize, i32 %f) {
  br label %head
head:
  %i = phi i64 [ %newnd, %0 ], [ %k, %body ]
  %stride = phi i64 [ %itemsize, %0 ], [ %next, %body ]
  %more = icmp sgt i64 %i, 0
  br i1 %more, label %body, label %end
body:
  %k = sub i64 %i, 1
  %p = getelementptr i64, ptr %newstrides, i64 %k
  store i64 %stride, ptr %p
  %q = getelementptr i64, ptr %newdims, i64 %k
  %d = load i64, ptr %q
  %next = mul i64 %stride, %d
  br label %head
end:
  ret i32 1
}

define internal ptr @NRT_Allocate(i64 %size) {
  %block = call ptr @kinegraph_malloc(i64 %size)
  ret ptr %block
}

define internal void @NRT_Free(ptr %block) {
  call void @kinegraph_free(ptr %block)
  ret void
}

define internal ptr @NRT_MemInfo_data_fast(ptr %block) {
  %place = getelementptr i8, ptr %block, i64 24
  %data = load ptr, ptr %place
  ret ptr %data
}
