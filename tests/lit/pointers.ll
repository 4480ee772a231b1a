; A pointer that may be the allocator is compared with it; the direct call has a
; site and, if the allocator is the program's own, a context.
; RUN: %options="module=m;context=1" %pass %s | FileCheck %s
; RUN: %options="module=m;context=0" %pass %s | FileCheck %s --check-prefix=N0

; CHECK: m!acquire@?:0\00malloc\001\00
; CHECK-SAME: m!caller@?:0\00malloc\001\00
; CHECK-SAME: m!own@?:0\00malloc\001\00
; CHECK-SAME: m!own@?:0 < acquire@?:0\00malloc\001\00
; CHECK-SAME: m!own@?:0 < other@?:0\00malloc\001\00\00

; Without contexts only the library's own routines are worth the compare.
; N0: m!acquire@?:0\00malloc\001\00m!caller@?:0\00malloc\001\00m!other@?:0\00malloc\001\00m!own@?:0\00malloc\001\00\00
; N0-NOT: icmp eq ptr %f, @own

declare ptr @malloc(i64)
@methods = global [2 x ptr] [ptr @malloc, ptr @own]

; CHECK-LABEL: define ptr @caller(
define ptr @caller(ptr %f) {
  %p = call ptr @malloc(i64 3)
; A type that no allocator has.
; CHECK: call ptr %f(i32 1)
  %q = call ptr %f(i32 1)
  ret ptr %q
}

; CHECK-LABEL: define ptr @acquire(
; CHECK: icmp eq ptr %f, @malloc
; CHECK: call ptr @tc_malloc(i64 %n,
; CHECK: icmp eq ptr %f, @own
; CHECK: call ptr @own.tc1(i64 %n)
; CHECK: call ptr %f(i64 %n)
define ptr @acquire(ptr %f, i64 %n) {
  %p = call ptr %f(i64 %n)
  ret ptr %p
}

declare i32 @__gxx_personality_v0(...)
; CHECK-LABEL: define ptr @other(
; CHECK: invoke ptr @own.tc2(i64 %n)
; CHECK: invoke ptr %f(i64 %n)
define ptr @other(ptr %f, i64 %n) personality ptr @__gxx_personality_v0 {
  %p = invoke ptr %f(i64 %n) to label %ok unwind label %bad
ok:
  ret ptr %p
bad:
  %pad = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %pad
}

define internal ptr @own(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}
