; Each routine that the runtime has a form of, by call and by invoke, keeps its
; arguments and gets its site.
; RUN: %options="module=m" %pass %s | FileCheck %s

; CHECK-DAG: @thermocline.sites = internal global {{.*}} section "thermocline_sites", align 16
; CHECK-DAG: @thermocline.keys = internal constant {{.*}} c"thermocline-sites 1 module=m context=0\00m!all@?:0\00aligned_alloc, calloc, malloc, memalign, operator new, operator new(align), operator new(align, nothrow), operator new(nothrow), operator new[], operator new[](align), operator new[](align, nothrow), operator new[](nothrow), posix_memalign, pvalloc, realloc, reallocarray, valloc\0017\00m!through_invoke@?:0\00operator new, realloc\002\00\00", section "thermocline_keys", align 1

declare noalias ptr @malloc(i64) #0
declare ptr @calloc(i64, i64)
declare ptr @realloc(ptr, i64)
declare ptr @reallocarray(ptr, i64, i64)
declare i32 @posix_memalign(ptr, i64, i64)
declare ptr @aligned_alloc(i64, i64)
declare ptr @memalign(i64, i64)
declare ptr @valloc(i64)
declare ptr @pvalloc(i64)
declare ptr @_Znwm(i64)
declare ptr @_Znam(i64)
declare ptr @_ZnwmRKSt9nothrow_t(i64, ptr)
declare ptr @_ZnamRKSt9nothrow_t(i64, ptr)
declare ptr @_ZnwmSt11align_val_t(i64, i64)
declare ptr @_ZnamSt11align_val_t(i64, i64)
declare ptr @_ZnwmSt11align_val_tRKSt9nothrow_t(i64, i64, ptr)
declare ptr @_ZnamSt11align_val_tRKSt9nothrow_t(i64, i64, ptr)
declare i32 @__gxx_personality_v0(...)

; CHECK-LABEL: define void @all(
define void @all(ptr %p, i64 %n) {
; CHECK: tail call noalias ptr @tc_malloc(i64 noundef %n, ptr @thermocline.sites) #[[NOTHROW:[0-9]+]]
  %1 = tail call noalias ptr @malloc(i64 noundef %n) #0
; CHECK: call ptr @tc_calloc(i64 %n, i64 8, ptr @thermocline.sites)
  %2 = call ptr @calloc(i64 %n, i64 8)
; CHECK: call ptr @tc_realloc(ptr %p, i64 %n, ptr @thermocline.sites)
  %3 = call ptr @realloc(ptr %p, i64 %n)
; CHECK: call ptr @tc_reallocarray(ptr %p, i64 %n, i64 8, ptr @thermocline.sites)
  %4 = call ptr @reallocarray(ptr %p, i64 %n, i64 8)
; CHECK: call i32 @tc_posix_memalign(ptr %p, i64 64, i64 %n, ptr @thermocline.sites)
  %5 = call i32 @posix_memalign(ptr %p, i64 64, i64 %n)
; CHECK: call ptr @tc_aligned_alloc(i64 64, i64 %n, ptr @thermocline.sites)
  %6 = call ptr @aligned_alloc(i64 64, i64 %n)
; CHECK: call ptr @tc_memalign(i64 64, i64 %n, ptr @thermocline.sites)
  %7 = call ptr @memalign(i64 64, i64 %n)
; CHECK: call ptr @tc_valloc(i64 %n, ptr @thermocline.sites)
  %8 = call ptr @valloc(i64 %n)
; CHECK: call ptr @tc_pvalloc(i64 %n, ptr @thermocline.sites)
  %9 = call ptr @pvalloc(i64 %n)
; CHECK: call ptr @tc_new(i64 %n, ptr @thermocline.sites)
  %10 = call ptr @_Znwm(i64 %n)
; CHECK: call ptr @tc_new_array(i64 %n, ptr @thermocline.sites)
  %11 = call ptr @_Znam(i64 %n)
; CHECK: call ptr @tc_new_nothrow(i64 %n, ptr %p, ptr @thermocline.sites)
  %12 = call ptr @_ZnwmRKSt9nothrow_t(i64 %n, ptr %p)
; CHECK: call ptr @tc_new_array_nothrow(i64 %n, ptr %p, ptr @thermocline.sites)
  %13 = call ptr @_ZnamRKSt9nothrow_t(i64 %n, ptr %p)
; CHECK: call ptr @tc_new_aligned(i64 %n, i64 64, ptr @thermocline.sites)
  %14 = call ptr @_ZnwmSt11align_val_t(i64 %n, i64 64)
; CHECK: call ptr @tc_new_array_aligned(i64 %n, i64 64, ptr @thermocline.sites)
  %15 = call ptr @_ZnamSt11align_val_t(i64 %n, i64 64)
; CHECK: call ptr @tc_new_aligned_nothrow(i64 %n, i64 64, ptr %p, ptr @thermocline.sites)
  %16 = call ptr @_ZnwmSt11align_val_tRKSt9nothrow_t(i64 %n, i64 64, ptr %p)
; CHECK: call ptr @tc_new_array_aligned_nothrow(i64 %n, i64 64, ptr %p, ptr @thermocline.sites)
  %17 = call ptr @_ZnamSt11align_val_tRKSt9nothrow_t(i64 %n, i64 64, ptr %p)
  ret void
}

; CHECK-LABEL: define ptr @through_invoke(
define ptr @through_invoke(ptr %p) personality ptr @__gxx_personality_v0 {
; CHECK: %new = invoke ptr @tc_new(i64 8, ptr getelementptr inbounds ({{.*}}@thermocline.sites, i64 {{.*}}))
; CHECK-NEXT: to label %ok unwind label %bad
  %new = invoke ptr @_Znwm(i64 8) to label %ok unwind label %bad
ok:
; CHECK: %more = invoke ptr @tc_realloc(ptr %p, i64 9, ptr getelementptr inbounds
  %more = invoke ptr @realloc(ptr %p, i64 9) to label %done unwind label %bad
done:
  ret ptr %more
bad:
  %pad = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %pad
}

; The entries are called through the GOT, and only those of operator new throw.
; CHECK-DAG: declare ptr @tc_malloc(i64, ptr) #[[QUIET:[0-9]+]]
; CHECK-DAG: declare ptr @tc_new(i64, ptr) #[[THROWS:[0-9]+]]
; CHECK-DAG: declare ptr @tc_new_nothrow(i64, ptr, ptr) #[[QUIET]]
; CHECK-DAG: attributes #[[QUIET]] = { nounwind nonlazybind }
; CHECK-DAG: attributes #[[THROWS]] = { nonlazybind }
; What was true of the builtin is not said of the entry.
; CHECK-DAG: attributes #[[NOTHROW]] = { nounwind }
attributes #0 = { nounwind allockind("alloc,uninitialized") allocsize(0) memory(inaccessiblemem: readwrite) "alloc-family"="malloc" }
