; Library calls are recorded by what they read and write.
; RUN: %onepass -passes=thermocline-twins,verify %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

declare i64 @strlen(ptr)
declare i64 @fread(ptr, i64, i64, ptr)
declare i32 @memcmp(ptr, ptr, i64)
declare ptr @strchr(ptr, i32)
declare void @_FortranAMatmulReal8Real8(ptr, ptr, ptr, ptr, i32)
declare i32 @__gxx_personality_v0(...)
define i64 @wcslen(ptr %s) {
  ret i64 0
}

; CHECK-LABEL: define internal i64 @length.twin(
; CHECK: %[[N:.*]] = call preserve_allcc i64 @tc_extent_string(ptr %s, i64 -1)
; CHECK-NEXT: call preserve_allcc void @tc_record_load(ptr %recorder, ptr %s, i64 %[[N]])
; CHECK: call i64 @strlen(ptr %s)
define i64 @length(ptr %s) {
  %n = call i64 @strlen(ptr %s)
  ret i64 %n
}

; What was read is known only from the result.
; CHECK-LABEL: define internal i64 @input.twin(
; CHECK: %n = call i64 @fread(ptr %p, i64 8, i64 %count, ptr %f)
; CHECK: mul i64 %{{.*}}, 8
; CHECK: call preserve_allcc void @tc_record_store(ptr %recorder, ptr %p,
define i64 @input(ptr %p, i64 %count, ptr %f) {
  %n = call i64 @fread(ptr %p, i64 8, i64 %count, ptr %f)
  ret i64 %n
}

; The same for an invoke, on its normal way only.
; CHECK-LABEL: define internal i64 @invoked.twin(
; CHECK: invoke i64 @fread(
; CHECK: call preserve_allcc void @tc_record_store(
; CHECK: landingpad
; CHECK-NOT: tc_record_store
; CHECK: resume
define i64 @invoked(ptr %p, ptr %f) personality ptr @__gxx_personality_v0 {
  %n = invoke i64 @fread(ptr %p, i64 8, i64 9, ptr %f) to label %fine unwind label %pad
fine:
  ret i64 %n
pad:
  %e = landingpad { ptr, i32 } cleanup
  resume { ptr, i32 } %e
}

; CHECK-LABEL: define internal ptr @search.twin(
; CHECK: %r = call ptr @strchr(ptr %s, i32 47)
; CHECK: call preserve_allcc void @tc_record_load(ptr %recorder, ptr %s,
define ptr @search(ptr %s) {
  %r = call ptr @strchr(ptr %s, i32 47)
  ret ptr %r
}

; CHECK-LABEL: define internal void @product.twin(
; CHECK: call preserve_allcc void @tc_record_descriptor(ptr %recorder, ptr %a, i64 0)
; CHECK-NEXT: call preserve_allcc void @tc_record_descriptor(ptr %recorder, ptr %b, i64 0)
; CHECK: call void @_FortranAMatmulReal8Real8(
; CHECK-NEXT: call preserve_allcc void @tc_record_descriptor(ptr %recorder, ptr %c, i64 1)
define void @product(ptr %c, ptr %a, ptr %b) {
  call void @_FortranAMatmulReal8Real8(ptr %c, ptr %a, ptr %b, ptr null, i32 0)
  ret void
}

; A program's own wcslen is no library function.
; CHECK-LABEL: define internal i64 @own.twin(
; CHECK-NOT: call {{.*}}tc_extent
; CHECK-NOT: call {{.*}}tc_record_load
define i64 @own(ptr %s) {
  %n = call i64 @wcslen(ptr %s)
  ret i64 %n
}
