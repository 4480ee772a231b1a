; What can't be copied stays one function, and a note says so; what looks
; dangerous but isn't is copied.
; RUN: %options="module=m;context=1" %pass %s 2>&1 | FileCheck %s

; CHECK-DAG: thermocline: no contexts through computed_goto: it can't be copied (a static table holds addresses of its labels)
; CHECK-DAG: thermocline: no contexts through assembly: it can't be copied (its inline assembly defines a symbol)
; CHECK-DAG: thermocline: no contexts through single: it can't be copied (it has a call that must not be duplicated)
; CHECK-DAG: thermocline: no contexts through naked: it can't be copied (it is naked)
; CHECK: m!assembly@?:0\00malloc\001\00
; CHECK-SAME: m!computed_goto@?:0\00malloc\001\00
; CHECK-SAME: m!harmless@?:0 < one@?:0\00malloc\001\00
; CHECK-SAME: m!harmless@?:0 < two@?:0\00malloc\001\00
; CHECK-SAME: m!naked@?:0\00malloc\001\00
; CHECK-SAME: m!single@?:0\00malloc\001\00
; CHECK-SAME: m!variadic@?:0 < one@?:0\00malloc\001\00
; CHECK-SAME: m!variadic@?:0 < two@?:0\00malloc\001\00\00

declare ptr @malloc(i64)
declare void @once() noduplicate
@table = internal constant [1 x ptr] [ptr blockaddress(@computed_goto, %label)]

define void @one() {
  call void @computed_goto(ptr null)
  call void @assembly()
  call void @single()
  call void @naked()
  call void @harmless(ptr null)
; CHECK: call void (i32, ...) @variadic(i32 1, i64 2)
  call void (i32, ...) @variadic(i32 1, i64 2)
  ret void
}
define void @two() {
  call void @computed_goto(ptr null)
  call void @assembly()
  call void @single()
  call void @naked()
  call void @harmless(ptr null)
; CHECK: call void (i32, ...) @variadic.tc1(i32 1, i64 2)
  call void (i32, ...) @variadic(i32 1, i64 2)
  ret void
}
define internal void @computed_goto(ptr %to) {
  %p = call ptr @malloc(i64 1)
  indirectbr ptr %to, [label %label]
label:
  ret void
}
define internal void @assembly() {
  %p = call ptr @malloc(i64 1)
  call void asm sideeffect "entry_point: nop", ""()
  ret void
}
define internal void @single() {
  %p = call ptr @malloc(i64 1)
  call void @once()
  ret void
}
define internal void @naked() naked {
  %p = call ptr @malloc(i64 1)
  unreachable
}
; Addresses of labels used here alone, local labels and operands with a colon.
define internal void @harmless(ptr %to) {
  %p = call ptr @malloc(i64 1)
  call void asm sideeffect "1: jmp 1b\0A.Lhere${:uid}: movq %fs:0, %rax", "~{rax}"()
  store ptr blockaddress(@harmless, %label), ptr %to
  indirectbr ptr %to, [label %label]
label:
  ret void
}
; CHECK: define internal void @variadic(i32 %0, ...)
define internal void @variadic(i32, ...) {
  %p = call ptr @malloc(i64 1)
  %list = alloca [24 x i8]
  call void @llvm.va_start(ptr %list)
  ret void
}
; CHECK: define internal void @variadic.tc1(i32 %0, ...)
; CHECK: call void @llvm.va_start
declare void @llvm.va_start(ptr)
