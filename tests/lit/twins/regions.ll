; A twin tells of its entering and leaving, if its row of the table says that somebody watches.
; RUN: %onepass -passes=thermocline-twins,verify %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

declare void @other()
declare i32 @value()
declare i32 @setjmp(ptr) returns_twice
declare i32 @personality(...)

; The first row is any function's; names are for people, then the symbol.
; CHECK-DAG: @thermocline.functions = private global [6 x { i32, i32 }] {{.*}} section "thermocline_functions"
; CHECK-DAG: private constant [{{[0-9]+}} x i8] c"grid::solve\00_ZN4grid5solveEv\00"

; CHECK-LABEL: define internal void @_ZN4grid5solveEv.twin(
; CHECK: %[[WATCHED:.*]] = load i32, ptr getelementptr {{.*}} @thermocline.functions, i64 0, i64 1), i64 4)
; CHECK: icmp ne i32 %[[WATCHED]], 0
; CHECK: call ptr @llvm.addressofreturnaddress.p0()
; CHECK-NEXT: call preserve_allcc void @tc_record_enter(ptr %recorder, ptr %{{.*}}, ptr getelementptr inbounds{{.*}} @thermocline.functions, i64 0, i64 1), i64 %{{.*}})
; CHECK: call void @other()
; CHECK: call preserve_allcc void @tc_record_leave(
; CHECK: ret void
define void @_ZN4grid5solveEv() {
  call void @other()
  call void @other()
  ret void
}

; The machine may jump to the last call, unless somebody watches.
; CHECK-LABEL: define internal i32 @ends.twin(
; CHECK: %[[COPY:.*]] = call i32 @value()
; CHECK: call preserve_allcc void @tc_record_leave(
; CHECK: ret i32 %[[COPY]]
; CHECK: %[[LAST:.*]] = tail call i32 @value()
; CHECK-NEXT: ret i32 %[[LAST]]
define i32 @ends() {
  %last = tail call i32 @value()
  ret i32 %last
}

; CHECK-LABEL: define internal void @must.twin(
; CHECK: call preserve_allcc void @tc_record_leave(
; CHECK: musttail call void @other()
; CHECK-NEXT: ret void
define void @must() {
  musttail call void @other()
  ret void
}

; What comes from frames below arrives here.
; CHECK-LABEL: define internal void @catches.twin(
; CHECK: landingpad
; CHECK: load i32, ptr getelementptr {{.*}}@thermocline.functions, i64 4)
; CHECK: call preserve_allcc void @tc_record_arrive(
define void @catches() personality ptr @personality {
  invoke void @other() to label %good unwind label %bad
good:
  ret void
bad:
  %what = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %what
}

; CHECK-LABEL: define internal void @returns.twin(
; CHECK: call i32 @setjmp(ptr %to)
; CHECK: call preserve_allcc void @tc_record_arrive(
define void @returns(ptr %to) {
  %again = call i32 @setjmp(ptr %to)
  call void @other()
  ret void
}
