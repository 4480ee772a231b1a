; Recursion ends where N frames are told apart, for one function and for two.
; RUN: %options="module=m;context=2" %pass %s | FileCheck %s

; CHECK: m!even@?:0 < odd@?:0 < even@?:0\00malloc\001\00
; CHECK-SAME: m!even@?:0 < odd@?:0 < main@?:0\00malloc\001\00
; CHECK-SAME: m!leaf@?:0 < loop@?:0 < loop@?:0\00malloc\001\00
; CHECK-SAME: m!leaf@?:0 < loop@?:0 < main@?:0\00malloc\001\00\00"

declare ptr @malloc(i64)

define i32 @main() {
  call void @loop(i64 9)
  call void @odd(i64 9)
  ret i32 0
}

define internal void @leaf() {
  %p = call ptr @malloc(i64 1)
  ret void
}

; CHECK-LABEL: define internal void @loop(
; CHECK: call void @leaf()
; CHECK: call void @loop.tc1(
define internal void @loop(i64 %n) {
  call void @leaf()
  %m = add i64 %n, -1
  call void @loop(i64 %m)
  ret void
}

define internal void @odd(i64 %n) {
  call void @even(i64 %n)
  ret void
}
define internal void @even(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  call void @odd(i64 %n)
  ret void
}

; The second copy of the loop serves every deeper turn.
; CHECK-LABEL: define internal void @loop.tc1(
; CHECK: call void @leaf.tc1()
; CHECK: call void @loop.tc1(
