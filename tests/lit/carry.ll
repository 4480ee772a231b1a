; Library calls that allocate for their caller: the site is set before them, and
; what was set before comes back on every way out.
; RUN: %options="module=m" %pass %s | FileCheck %s

declare ptr @strdup(ptr)
declare i32 @asprintf(ptr, ptr, ...)
declare i64 @getline(ptr, ptr, ptr)
declare void @_FortranAAssign(ptr, ptr, ptr, i32)
declare void @_FortranAAllocatableDeallocate(ptr)
declare void @_FortranAMatmulDirectReal8Real8(ptr, ptr, ptr, ptr, i32)
declare void @_FortranASumDim(ptr)
declare double @_FortranASumReal8(ptr)
declare ptr @_FortranAioBeginExternalListOutput(i32, ptr, i32)
declare i32 @__gxx_personality_v0(...)

; CHECK-LABEL: define ptr @by_call(
define ptr @by_call(ptr %s) {
; CHECK: %[[OLD:.*]] = call ptr @tc_carry(ptr @thermocline.sites)
; CHECK-NEXT: %p = call ptr @strdup(ptr %s)
; CHECK-NEXT: call ptr @tc_carry(ptr %[[OLD]])
; CHECK-NEXT: ret ptr %p
  %p = tail call ptr @strdup(ptr %s)
  ret ptr %p
}

; CHECK-LABEL: define void @variadic(
define void @variadic(ptr %s) {
; CHECK: call ptr @tc_carry(
; CHECK-NEXT: call i32 (ptr, ptr, ...) @asprintf(ptr %s, ptr %s, i32 1)
; CHECK-NEXT: call ptr @tc_carry(
  %n = call i32 (ptr, ptr, ...) @asprintf(ptr %s, ptr %s, i32 1)
  ret void
}

; Both edges, where the blocks have other predecessors too.
; CHECK-LABEL: define i64 @by_invoke(
define i64 @by_invoke(ptr %s, i1 %c) personality ptr @__gxx_personality_v0 {
entry:
  br i1 %c, label %one, label %two
one:
; CHECK: %[[OLD:.*]] = call ptr @tc_carry(
; CHECK-NEXT: %a = invoke i64 @getline(ptr %s, ptr %s, ptr %s)
; CHECK-NEXT: to label %[[NORMAL:.*]] unwind label %[[UNWIND:.*]]
  %a = invoke i64 @getline(ptr %s, ptr %s, ptr %s) to label %join unwind label %bad
; CHECK: [[NORMAL]]:
; CHECK-NEXT: call ptr @tc_carry(ptr %[[OLD]])
two:
  invoke void @_FortranAioUnknown() to label %join unwind label %bad
join:
  %r = phi i64 [ %a, %one ], [ 0, %two ]
  ret i64 %r
; CHECK: [[UNWIND]]:
; CHECK-NEXT: landingpad
; CHECK-NEXT: cleanup
; CHECK-NEXT: call ptr @tc_carry(ptr %[[OLD]])
bad:
  %pad = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %pad
}
declare void @_FortranAioUnknown()

; CHECK-LABEL: define void @fortran(
define void @fortran(ptr %d) {
; CHECK: tc_carry
; CHECK-NEXT: call void @_FortranAAssign
; CHECK-NEXT: tc_carry
  call void @_FortranAAssign(ptr %d, ptr %d, ptr %d, i32 1)
; CHECK: tc_carry
; CHECK-NEXT: call void @_FortranASumDim
; CHECK-NEXT: tc_carry
  call void @_FortranASumDim(ptr %d)
; These allocate nothing for the caller.
; CHECK-NEXT: call void @_FortranAMatmulDirectReal8Real8
  call void @_FortranAMatmulDirectReal8Real8(ptr %d, ptr %d, ptr %d, ptr %d, i32 1)
; CHECK-NEXT: call double @_FortranASumReal8
  %s = call double @_FortranASumReal8(ptr %d)
; CHECK-NEXT: call void @_FortranAAllocatableDeallocate
  call void @_FortranAAllocatableDeallocate(ptr %d)
; CHECK-NEXT: call ptr @_FortranAioBeginExternalListOutput
  %io = call ptr @_FortranAioBeginExternalListOutput(i32 6, ptr %d, i32 1)
; CHECK-NEXT: ret void
  ret void
}
