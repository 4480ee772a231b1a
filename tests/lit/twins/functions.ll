; Which functions get a twin, how twins call each other, and the table of pairs.
; RUN: %onepass -passes=thermocline-twins,verify %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; A table of labels goes with its function, if nobody else uses it.
@labels = private constant [2 x ptr] [ptr blockaddress(@jumps, %a), ptr blockaddress(@jumps, %b)]
@shown = global [1 x ptr] [ptr blockaddress(@shows, %a)]
; CHECK-DAG: @labels.twin = private constant [2 x ptr] [ptr blockaddress(@jumps.twin, %a), ptr blockaddress(@jumps.twin, %b)]

; A pair for each that can be copied and refers to memory or calls; a function that another module may replace is named by a private alias.
; CHECK-DAG: @thermocline.twins = private constant [6 x { i32, i32 }] {{.*}} section "thermocline_twins"
; CHECK-DAG: @exported.plain = private alias

; CHECK-LABEL: define void @exported(ptr %p){{.*}} align 16
define void @exported(ptr %p) {
  store i8 1, ptr %p
  ret void
}

define internal void @local(ptr %p) {
  store i8 1, ptr %p
  ret void
}

; CHECK-LABEL: define internal void @calls.twin(
; CHECK: call void @exported(ptr %p)
; CHECK: call void @local.twin(ptr %p)
define void @calls(ptr %p) {
  store i8 1, ptr %p
  call void @exported(ptr %p)
  call void @local(ptr %p)
  ret void
}

; Nothing to record, and nothing that could be copied.
; CHECK-NOT: @pure.twin
; CHECK-NOT: @bare.twin
; CHECK-NOT: @shows.twin
define i32 @pure(i32 %x) {
  ret i32 %x
}
define void @bare() naked {
  store i8 1, ptr @shown
  ret void
}
define void @shows(ptr %p) {
  store i8 1, ptr %p
  br label %a
a:
  ret void
}

; CHECK-LABEL: define internal i32 @jumps.twin(
; CHECK: load ptr, ptr %slot
define i32 @jumps(i64 %i) {
  %slot = getelementptr [2 x ptr], ptr @labels, i64 0, i64 %i
  %to = load ptr, ptr %slot
  indirectbr ptr %to, [label %a, label %b]
a:
  ret i32 1
b:
  ret i32 2
}

; Nothing stands between a musttail call and its return.
; CHECK-LABEL: define internal void @tail.twin(
; CHECK: musttail call void @exported(ptr %p)
; CHECK-NEXT: ret void
define void @tail(ptr %p) {
  store i8 1, ptr %p
  musttail call void @exported(ptr %p)
  ret void
}

; A promise not to write memory does not hold for the twin.
; CHECK-LABEL: define internal i8 @reads.twin(ptr %p)
; CHECK-NOT: memory(
; CHECK-SAME: section
define i8 @reads(ptr %p) memory(argmem: read) {
  %v = load i8, ptr %p
  ret i8 %v
}
; CHECK: !{!"2 functions have no recording twin
