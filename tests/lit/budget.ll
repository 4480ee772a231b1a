; The budget cuts what costs most, says what, and keeps the small leaf apart.
; RUN: rm -f %t.notes %t.none
; RUN: %options="module=m;context=2;budget=20;notes=%t.notes" %pass %s > %t.ll
; RUN: FileCheck %s --check-prefix=NOTE < %t.notes
; RUN: FileCheck %s < %t.ll
; With room enough nothing is left out and nothing is said.
; RUN: %options="module=m;context=2;budget=1000;notes=%t.none" %pass %s | FileCheck %s --check-prefix=ROOM
; RUN: not ls %t.none

; NOTE: contexts would grow the program beyond the budget of 6 instructions: fewer callers are told apart for large (0 of 1); raise the budget or lower the context to change that
; NOTE-NOT: {{.}}

; CHECK: m!leaf@?:0 < large@?:0\00malloc\001\00
; CHECK-SAME: m!leaf@?:0 < main@?:0\00malloc\001\00\00
; CHECK-SAME: contexts would grow the program
; CHECK-SAME: context cut by the budget: large (0 of 1)

; ROOM: m!leaf@?:0 < large@?:0 < main@?:0\00malloc\001\00
; ROOM-SAME: m!leaf@?:0 < large@?:0 < other@?:0\00malloc\001\00
; ROOM-SAME: m!leaf@?:0 < main@?:0\00malloc\001\00\00"

declare ptr @malloc(i64)

define i32 @main() {
  call void @leaf()
  call void @large(ptr null)
  ret i32 0
}
define void @other() {
  call void @large(ptr null)
  ret void
}
define internal void @leaf() {
  %p = call ptr @malloc(i64 1)
  ret void
}
define internal void @large(ptr %p) {
  store volatile i32 1, ptr %p
  store volatile i32 2, ptr %p
  store volatile i32 3, ptr %p
  store volatile i32 4, ptr %p
  store volatile i32 5, ptr %p
  store volatile i32 6, ptr %p
  store volatile i32 7, ptr %p
  store volatile i32 8, ptr %p
  store volatile i32 9, ptr %p
  store volatile i32 10, ptr %p
  store volatile i32 11, ptr %p
  store volatile i32 12, ptr %p
  store volatile i32 13, ptr %p
  store volatile i32 14, ptr %p
  store volatile i32 15, ptr %p
  store volatile i32 16, ptr %p
  store volatile i32 17, ptr %p
  store volatile i32 18, ptr %p
  store volatile i32 19, ptr %p
  store volatile i32 20, ptr %p
  store volatile i32 21, ptr %p
  store volatile i32 22, ptr %p
  call void @leaf()
  ret void
}
