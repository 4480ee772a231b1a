; Calls by pointer that a compare must not be put before, and a function whose
; address nobody had compared: it must not be folded with another from now on.
; RUN: %options="module=m;context=1" %pass %s | FileCheck %s

declare ptr @malloc(i64)
@methods = global [2 x ptr] [ptr @own, ptr @own]

; CHECK-LABEL: define ptr @once(
; CHECK-NEXT: call ptr %f(i64 1) #
define ptr @once(ptr %f) {
  %p = call ptr %f(i64 1) #0
  ret ptr %p
}
; CHECK-LABEL: define ptr @otherConvention(
; CHECK-NEXT: call win64cc ptr %f(i64 1)
define ptr @otherConvention(ptr %f) {
  %p = call win64cc ptr %f(i64 1)
  ret ptr %p
}
; CHECK-LABEL: define ptr @followed(
; CHECK: icmp eq ptr %f, @own
define ptr @followed(ptr %f) {
  %p = call ptr %f(i64 1)
  ret ptr %p
}
; CHECK: define internal ptr @own(i64 %n) #{{[0-9]+}} {
define internal ptr @own(i64 %n) unnamed_addr {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}
attributes #0 = { noduplicate }
