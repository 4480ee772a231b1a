; A program's own malloc, a malloc of another shape and a call by pointer stay.
; RUN: %options="module=m" %pass %s | FileCheck %s
; RUN: %options="module=m" %pass %s | FileCheck %s --check-prefix=TABLE

; TABLE: c"thermocline-sites 1 module=m context=0\00m!malloc@?:0\00calloc\001\00\00"

declare ptr @calloc(i64, i64)
declare i32 @memalign(i32, i32)
declare ptr @_Znwm(i64)

define ptr @malloc(i64 %n) {
; CHECK-LABEL: define ptr @malloc(
; CHECK: call ptr @tc_calloc(
  %p = call ptr @calloc(i64 1, i64 %n)
  ret ptr %p
}

; A copy of the library's own body, for inlining only: still the library's.
define available_externally ptr @realloc(ptr %p, i64 %n) {
  ret ptr null
}

define void @caller(ptr %f) {
; CHECK-LABEL: define void @caller(
; CHECK: call ptr @malloc(i64 3)
  %a = call ptr @malloc(i64 3)
; CHECK: call i32 @memalign(i32 8, i32 8)
  %b = call i32 @memalign(i32 8, i32 8)
; CHECK: call ptr %f(i64 3)
  %c = call ptr %f(i64 3)
  ret void
}
