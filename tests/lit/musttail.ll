; An allocation call in musttail position gives it up (its signature grows); a
; pair of the program's own functions keeps it through cloning.
; RUN: %options="module=m;context=1" %pass %s 2>&1 | FileCheck %s

declare ptr @malloc(i64)
declare ptr @strdup(ptr)
declare i32 @asprintf(ptr, ptr, ...)

; CHECK: thermocline: a call of asprintf in forwarding forwards its variable arguments and has no site
; CHECK: @thermocline.keys =
; CHECK-NOT: forwarding@
; CHECK-LABEL: define ptr @wrapper(
; CHECK: = tail call ptr @tc_malloc(i64 %n, ptr
; CHECK-NEXT: ret ptr
define ptr @wrapper(i64 %n) {
  %p = musttail call ptr @malloc(i64 %n)
  ret ptr %p
}

; CHECK-LABEL: define ptr @copying(
; CHECK: call ptr @tc_carry(
; CHECK-NEXT: = call ptr @strdup(
; CHECK-NEXT: call ptr @tc_carry(
; CHECK-NEXT: ret ptr
define ptr @copying(ptr %s) {
  %p = musttail call ptr @strdup(ptr %s)
  ret ptr %p
}

; A forwarded "..." can only be written as musttail, so this call is no site.
; CHECK-LABEL: define i32 @forwarding(
; CHECK-NEXT: %r = musttail call i32 (ptr, ptr, ...) @asprintf(ptr %a, ptr %b, ...)
; CHECK-NEXT: ret i32 %r
define i32 @forwarding(ptr %a, ptr %b, ...) {
  %r = musttail call i32 (ptr, ptr, ...) @asprintf(ptr %a, ptr %b, ...)
  ret i32 %r
}

; CHECK-LABEL: define ptr @first(
; CHECK: %p = musttail call ptr @inner(i64 %n)
define ptr @first(i64 %n) {
  %p = musttail call ptr @inner(i64 %n)
  ret ptr %p
}

; CHECK-LABEL: define ptr @second(
; CHECK: %p = musttail call ptr @inner.tc1(i64 %n)
define ptr @second(i64 %n) {
  %p = musttail call ptr @inner(i64 %n)
  ret ptr %p
}

; CHECK-LABEL: define internal ptr @inner(
define internal ptr @inner(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  ret ptr %p
}
; CHECK-LABEL: define internal ptr @inner.tc1(
