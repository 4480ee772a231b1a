; Each kind of reference is recorded in the twin, and the plain function stays as it was.
; RUN: %onepass -passes=thermocline-twins,verify %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; Two of them, both loads, in 16 bytes: at 0 and at 8, of 8 bytes each.
; CHECK: @thermocline.group = private constant {{.*}} [12 x i16] [i16 2, i16 0, i16 2, i16 0, i16 0, i16 0, i16 16, i16 0, i16 0, i16 16, i16 8, i16 16], {{.*}}, section "thermocline_groups", align 4
; Without debug information only the function is known.
; CHECK: @thermocline.place = private constant [5 x i8] c"sum\00\00", section "thermocline_places", align 1

; CHECK-LABEL: define i64 @sum(
; CHECK-NOT: tc_record
; CHECK: ret i64

; Two loads of one struct are one test of the filter and one count of two.
; CHECK-LABEL: define internal i64 @sum.twin(
; CHECK-SAME: section "thermocline_text" align 16
; CHECK: call ptr @tc_recorder_make()
; CHECK: add i64 %{{.*}}, 2
; CHECK-NOT: add i64 %{{.*}}, 1
; CHECK: call preserve_allcc void @tc_record_group(
; CHECK-NOT: tc_record_group
; CHECK: ret i64
define i64 @sum(ptr %p) {
  %a = load i64, ptr %p, align 8
  %q = getelementptr i8, ptr %p, i64 8
  %b = load i64, ptr %q, align 8
  %s = add i64 %a, %b
  ret i64 %s
}

; A line's length apart: two groups.
; CHECK-LABEL: define internal void @apart.twin(
; CHECK-COUNT-2: call preserve_allcc void @tc_record_group(
; CHECK-NOT: tc_record_group
; CHECK: ret void
define void @apart(ptr %p) {
  store i64 1, ptr %p, align 8
  %q = getelementptr i8, ptr %p, i64 64
  store i64 2, ptr %q, align 8
  ret void
}

; A call in between may run twins: the clock is written before and read after it.
; CHECK-LABEL: define internal void @around.twin(
; CHECK: store i64 %{{.*}}, ptr %recorder
; CHECK: call void @other()
; CHECK-NEXT: load i64, ptr %recorder
; CHECK: ret void
declare void @other()
define void @around(ptr %p) {
  store i64 1, ptr %p, align 8
  call void @other()
  store i64 2, ptr %p, align 8
  ret void
}

; CHECK-LABEL: define internal i32 @atomic.twin(
; CHECK: call preserve_allcc void @tc_record_group(ptr %recorder, i64 %{{.*}}, ptr @[[BOTH:thermocline.group[.0-9]*]],
define i32 @atomic(ptr %p) {
  %old = atomicrmw add ptr %p, i32 1 seq_cst, align 4
  ret i32 %old
}

; CHECK-LABEL: define internal void @bulk.twin(
; CHECK: call preserve_allcc void @tc_record_copy(ptr %recorder, ptr %to, ptr %from, i64 %n)
; CHECK: call preserve_allcc void @tc_record_store(ptr %recorder, ptr %to, i64 %n)
define void @bulk(ptr %to, ptr %from, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  call void @llvm.memset.p0.i64(ptr %to, i8 0, i64 %n, i1 false)
  ret void
}

; CHECK-LABEL: define internal <4 x float> @masked.twin(
; CHECK: bitcast <4 x i1> %m to i4
; CHECK: call preserve_allcc void @tc_record_lanes(ptr %recorder, ptr %p, i64 %{{.*}}, i64 4, i64 0)
; CHECK: call preserve_allcc void @tc_record_lanes(ptr %recorder, ptr %p, i64 %{{.*}}, i64 4, i64 1)
define <4 x float> @masked(ptr %p, <4 x i1> %m) {
  %v = call <4 x float> @llvm.masked.load.v4f32.p0(ptr align 4 %p, <4 x i1> %m, <4 x float> zeroinitializer)
  call void @llvm.masked.store.v4f32.p0(<4 x float> %v, ptr align 4 %p, <4 x i1> %m)
  ret <4 x float> %v
}

; CHECK-LABEL: define internal <4 x double> @gather.twin(
; CHECK: call preserve_allcc void @tc_record_scattered(ptr %recorder, ptr %{{.*}}, i64 %{{.*}}, i64 8, i64 0)
define <4 x double> @gather(<4 x ptr> %p, <4 x i1> %m) {
  %v = call <4 x double> @llvm.masked.gather.v4f64.v4p0(<4 x ptr> align 8 %p, <4 x i1> %m, <4 x double> zeroinitializer)
  ret <4 x double> %v
}

; CHECK-LABEL: define internal void @compress.twin(
; CHECK: call i64 @llvm.ctpop.i64(
; CHECK: call preserve_allcc void @tc_record_lanes(ptr %recorder, ptr %p, i64 %{{.*}}, i64 4, i64 1)
define void @compress(ptr %p, <8 x i32> %v, <8 x i1> %m) {
  call void @llvm.masked.compressstore.v8i32(<8 x i32> %v, ptr %p, <8 x i1> %m)
  ret void
}

; CHECK-LABEL: define internal <8 x float> @avx.twin(
; CHECK: icmp slt <8 x i32> %m, zeroinitializer
; CHECK: call preserve_allcc void @tc_record_lanes(ptr %recorder, ptr %p, i64 %{{.*}}, i64 4, i64 0)
define <8 x float> @avx(ptr %p, <8 x i32> %m) #0 {
  %v = call <8 x float> @llvm.x86.avx.maskload.ps.256(ptr %p, <8 x i32> %m)
  ret <8 x float> %v
}

; CHECK-LABEL: define internal void @byvalue.twin(
; CHECK: call preserve_allcc void @tc_record_load(ptr %recorder, ptr %p, i64 96)
declare void @takes(ptr byval([96 x i8]))
define void @byvalue(ptr %p) {
  call void @takes(ptr byval([96 x i8]) %p)
  ret void
}

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare <4 x float> @llvm.masked.load.v4f32.p0(ptr, <4 x i1>, <4 x float>)
declare void @llvm.masked.store.v4f32.p0(<4 x float>, ptr, <4 x i1>)
declare <4 x double> @llvm.masked.gather.v4f64.v4p0(<4 x ptr>, <4 x i1>, <4 x double>)
declare void @llvm.masked.compressstore.v8i32(<8 x i32>, ptr, <8 x i1>)
declare <8 x float> @llvm.x86.avx.maskload.ps.256(ptr, <8 x i32>)
attributes #0 = { "target-features"="+avx" }
