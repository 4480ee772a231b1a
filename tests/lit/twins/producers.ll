; Which loads make an address, across direct calls: what all callers of an internal function pass,
; and what it returns.  A group's second array has its producers: {group, load, consumer}.
; RUN: %onepass -passes=thermocline-twins,verify %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; @inner's load: two producers, from the two callers, and @pick's load none of them.
; CHECK: @[[INNER:thermocline.group]] = {{.*}}[2 x { i32, i16, i16 }] [{ i32, i16, i16 } { i32 trunc (i64 sub (i64 ptrtoint (ptr @[[ONE:thermocline.group.[0-9]+]] to i64), i64 ptrtoint (ptr @[[INNER]] to i64)) to i32), i16 0, i16 0 }, { i32, i16, i16 } { i32 trunc (i64 sub (i64 ptrtoint (ptr @[[TWO:thermocline.group.[0-9]+]] to
define internal i64 @inner(ptr %p) noinline {
  %v = load i64, ptr %p
  ret i64 %v
}

; Anybody may call it: nothing is known of its argument.
; CHECK: @[[PICK:thermocline.group.[0-9]+]] = {{.*}}[0 x { i32, i16, i16 }]
define ptr @pick(ptr %p) noinline {
  %v = load ptr, ptr %p
  ret ptr %v
}

; CHECK: @[[ONE]] = {{.*}}[0 x { i32, i16, i16 }]
define i64 @one(ptr %p) {
  %q = load ptr, ptr %p
  %v = call i64 @inner(ptr %q)
  ret i64 %v
}

; CHECK: @[[TWO]] = {{.*}}[0 x { i32, i16, i16 }]
define i64 @two(ptr %p) {
  %q = load ptr, ptr %p
  %r = getelementptr i8, ptr %q, i64 24
  %v = call i64 @inner(ptr %r)
  ret i64 %v
}

; What @choose returns was loaded by itself.
; CHECK: @[[CHOOSE:thermocline.group.[0-9]+]] = {{.*}}[0 x { i32, i16, i16 }]
define internal ptr @choose(ptr %p) noinline {
  %v = load ptr, ptr %p
  ret ptr %v
}
; CHECK: @[[RESULT:thermocline.group.[0-9]+]] = {{.*}}[1 x { i32, i16, i16 }] [{ i32, i16, i16 } { i32 trunc (i64 sub (i64 ptrtoint (ptr @[[CHOOSE]] to
define i64 @result(ptr %p) {
  %q = call ptr @choose(ptr %p)
  %v = load i64, ptr %q
  ret i64 %v
}

; It calls itself: the last load is another frame's.
; CHECK: @{{thermocline.group.[0-9]+}} = {{.*}}[0 x { i32, i16, i16 }]
define internal void @walk(ptr %n) {
  %left = load ptr, ptr %n
  call void @walk(ptr %left)
  ret void
}
define void @start(ptr %root) {
  call void @walk(ptr %root)
  ret void
}
