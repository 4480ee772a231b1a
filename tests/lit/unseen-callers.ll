; Callers that can't be seen (pointers, other objects, an initialiser) keep the
; original, with a path that starts there; calls that can be seen get copies.
; RUN: %options="module=m;context=1" %pass %s 2>&1 | FileCheck %s

; CHECK: thermocline: no contexts through weak: it can't be copied (another definition may replace it at run time)
; CHECK: m!aliased@?:0 < main@?:0\00malloc\001\00
; CHECK-SAME: m!exported@?:0\00malloc\001\00
; CHECK-SAME: m!exported@?:0 < main@?:0\00malloc\001\00
; CHECK-SAME: m!once@?:0\00malloc\001\00
; CHECK-SAME: m!once@?:0 < main@?:0\00malloc\001\00
; CHECK-SAME: m!pointed@?:0\00malloc\001\00
; CHECK-SAME: m!pointed@?:0 < main@?:0\00malloc\001\00
; CHECK-SAME: m!start@?:0\00malloc\001\00
; CHECK-SAME: m!weak@?:0\00malloc\001\00\00no contexts through weak: it can't be copied

declare ptr @malloc(i64)
$once = comdat any

@table = global [1 x ptr] [ptr @pointed]
; CHECK: @llvm.global_ctors = appending global [2 x {{.*}} [{ i32, ptr, ptr } { i32 65535, ptr @start, ptr null }, { i32, ptr, ptr } { i32 0, ptr @thermocline.load, ptr null }]
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @start, ptr null }]
; CHECK: @llvm.global_dtors = appending global [1 x {{.*}} [{ i32, ptr, ptr } { i32 0, ptr @thermocline.unload, ptr null }]
@alias = internal alias void (), ptr @aliased

; CHECK-LABEL: define i32 @main(
define i32 @main(ptr %f) {
; CHECK: call void @pointed.tc1()
  call void @pointed()
; CHECK: call void %f()
  call void %f()
; CHECK: call void @exported.tc1()
  call void @exported()
; CHECK: call void @weak()
  call void @weak()
; CHECK: call void @once.tc1()
  call void @once()
; CHECK: call void @alias()
  call void @alias()
  ret i32 0
}

define internal void @pointed() {
  %p = call ptr @malloc(i64 1)
  ret void
}
define void @exported() {
  %p = call ptr @malloc(i64 1)
  ret void
}
define weak void @weak() {
  %p = call ptr @malloc(i64 1)
  ret void
}
define weak_odr void @once() comdat {
  %p = call ptr @malloc(i64 1)
  ret void
}
define internal void @aliased() {
  %p = call ptr @malloc(i64 1)
  ret void
}
define internal void @start() {
  %p = call ptr @malloc(i64 1)
  ret void
}

; Copies are private to the module.
; CHECK-LABEL: define internal void @once.tc1()
; CHECK-NOT: comdat
; CHECK: {
