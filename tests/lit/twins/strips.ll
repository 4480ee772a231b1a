; Which loops are recorded as a whole, before they start.
; RUN: %options="strips=on" %onepass -passes=thermocline-twins,verify %s | FileCheck %s
; RUN: %onepass -passes=thermocline-twins,verify %s | FileCheck --check-prefix=OFF %s
; OFF-NOT: tc_record_strip
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; Two groups, and 20 stamps for ten instructions: a[i] and a[i + 1], two loads that make two
; pieces of 16 bytes, and a store of 8.
; CHECK: @[[PLAIN:thermocline.strip[.0-9]*]] = private constant [26 x i16] [i16 2, i16 0, i16 20, i16 0,
; CHECK-SAME: i16 16, i16 2, i16 2, i16 0, i16 1, i16 0, i16 1, i16 0, i16 0, i16 16, i16 8, i16 16,
; CHECK-SAME: i16 8, i16 1, i16 0, i16 1, i16 0, i16 0, i16 0, i16 0, i16 0, i16 17]

; CHECK-LABEL: define internal void @plain.twin(
; CHECK: call preserve_allcc void @tc_record_strip(ptr %recorder, ptr @[[PLAIN]], ptr %walks, i64 %{{.*}}, i64 %{{.*}})
; CHECK: loop:
; CHECK-NOT: tc_record
; CHECK: ret void
define void @plain(ptr %to, ptr %from, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %p = getelementptr double, ptr %from, i64 %i
  %x = load double, ptr %p, align 8
  %next = add nuw nsw i64 %i, 1
  %q = getelementptr double, ptr %from, i64 %next
  %y = load double, ptr %q, align 8
  %s = fadd double %x, %y
  %r = getelementptr double, ptr %to, i64 %i
  store double %s, ptr %r, align 8
  %done = icmp eq i64 %next, %n
  br i1 %done, label %exit, label %loop
exit:
  ret void
}

; The body runs once less than the header, in which the exit is; a step that is known only
; when it runs.
; CHECK-LABEL: define internal void @behind_the_exit.twin(
; CHECK: call preserve_allcc void @tc_record_strip(
; CHECK: header:
; CHECK-NOT: tc_record
; CHECK: ret void
define void @behind_the_exit(ptr %p, i64 %n, i64 %step) {
entry:
  br label %header
header:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %exit
body:
  %at = mul i64 %i, %step
  %q = getelementptr i8, ptr %p, i64 %at
  store i8 0, ptr %q
  %next = add nuw i64 %i, 1
  br label %header
exit:
  ret void
}

; References on both sides of the exit.
; CHECK-LABEL: define internal void @both_sides.twin(
; CHECK-NOT: tc_record_strip
; CHECK: ret void
define void @both_sides(ptr %p, ptr %q, i64 %n) {
entry:
  br label %header
header:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %a = getelementptr i64, ptr %q, i64 %i
  %x = load i64, ptr %a
  %more = icmp ult i64 %i, %n
  br i1 %more, label %body, label %exit
body:
  %b = getelementptr i64, ptr %p, i64 %i
  store i64 %x, ptr %b
  %next = add nuw i64 %i, 1
  br label %header
exit:
  ret void
}

; CHECK-LABEL: define internal i64 @early_exit.twin(
; CHECK-NOT: tc_record_strip
; CHECK: ret i64
define i64 @early_exit(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %q = getelementptr i64, ptr %p, i64 %i
  %x = load i64, ptr %q
  %found = icmp eq i64 %x, 7
  br i1 %found, label %exit, label %latch
latch:
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret i64 %i
}

; CHECK-LABEL: define internal void @conditional.twin(
; CHECK-NOT: tc_record_strip
; CHECK: ret void
define void @conditional(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %q = getelementptr i64, ptr %p, i64 %i
  %x = load i64, ptr %q
  %c = icmp eq i64 %x, 7
  br i1 %c, label %then, label %latch
then:
  store i64 0, ptr %q
  br label %latch
latch:
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; CHECK-LABEL: define internal void @calls.twin(
; CHECK-NOT: tc_record_strip
; CHECK: ret void
declare void @other()
define void @calls(ptr %p, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %q = getelementptr i64, ptr %p, i64 %i
  store i64 0, ptr %q
  call void @other()
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; CHECK-LABEL: define internal void @indirect.twin(
; CHECK-NOT: tc_record_strip
; CHECK: ret void
define void @indirect(ptr %p, ptr %index, i64 %n) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %a = getelementptr i64, ptr %index, i64 %i
  %k = load i64, ptr %a
  %q = getelementptr i64, ptr %p, i64 %k
  store i64 0, ptr %q
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}

; Of a nest, the inner loop; what is outside of it is recorded as ever.
; CHECK-LABEL: define internal void @nest.twin(
; CHECK: outer:
; CHECK: tc_record_group
; CHECK: tc_record_strip
; CHECK: inner:
; CHECK-NOT: tc_record
; CHECK: ret void
define void @nest(ptr %p, ptr %rows, i64 %n) {
entry:
  br label %outer
outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %outer.latch ]
  %r = getelementptr ptr, ptr %rows, i64 %i
  %row = load ptr, ptr %r
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %q = getelementptr i64, ptr %row, i64 %j
  store i64 %i, ptr %q
  %j.next = add nuw i64 %j, 1
  %j.more = icmp ult i64 %j.next, %n
  br i1 %j.more, label %inner, label %outer.latch
outer.latch:
  %i.next = add nuw i64 %i, 1
  %i.more = icmp ult i64 %i.next, %n
  br i1 %i.more, label %outer, label %exit
exit:
  ret void
}

; Known to be short, such as what remains of an unrolled loop.
; CHECK-LABEL: define internal void @remainder.twin(
; CHECK-NOT: tc_record_strip
; CHECK: ret void
define void @remainder(ptr %p, i64 %n) {
entry:
  %rest = and i64 %n, 3
  %some = icmp ne i64 %rest, 0
  br i1 %some, label %loop, label %exit
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %q = getelementptr i64, ptr %p, i64 %i
  store i64 0, ptr %q
  %next = add nuw i64 %i, 1
  %done = icmp eq i64 %next, %rest
  br i1 %done, label %exit, label %loop
exit:
  ret void
}
