; OpenMP's outlined functions, tasks and threads are reached through the library
; that calls them back.
; RUN: %options="module=m;context=1" %pass %s | FileCheck %s

; CHECK: m!outlined@?:0 < one@?:0\00malloc\001\00
; CHECK-SAME: m!outlined@?:0 < two@?:0\00malloc\001\00
; CHECK-SAME: m!task@?:0 < one@?:0\00malloc\001\00
; CHECK-SAME: m!task@?:0 < two@?:0\00malloc\001\00
; CHECK-SAME: m!thread@?:0 < one@?:0\00malloc\001\00
; CHECK-SAME: m!thread@?:0 < two@?:0\00malloc\001\00\00"

declare ptr @malloc(i64)
declare !callback !0 void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare ptr @__kmpc_omp_task_alloc(ptr, i32, i32, i64, i64, ptr)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)

define void @one() {
; CHECK: __kmpc_fork_call(ptr null, i32 0, ptr @outlined)
; CHECK: __kmpc_omp_task_alloc(ptr null, i32 0, i32 1, i64 40, i64 0, ptr @task)
; CHECK: pthread_create(ptr null, ptr null, ptr @thread, ptr null)
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 0, ptr @outlined)
  %t = call ptr @__kmpc_omp_task_alloc(ptr null, i32 0, i32 1, i64 40, i64 0, ptr @task)
  %c = call i32 @pthread_create(ptr null, ptr null, ptr @thread, ptr null)
  ret void
}
define void @two() {
; CHECK: __kmpc_fork_call(ptr null, i32 0, ptr @outlined.tc1)
; CHECK: __kmpc_omp_task_alloc(ptr null, i32 0, i32 1, i64 40, i64 0, ptr @task.tc1)
; CHECK: pthread_create(ptr null, ptr null, ptr @thread.tc1, ptr null)
  call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr null, i32 0, ptr @outlined)
  %t = call ptr @__kmpc_omp_task_alloc(ptr null, i32 0, i32 1, i64 40, i64 0, ptr @task)
  %c = call i32 @pthread_create(ptr null, ptr null, ptr @thread, ptr null)
  ret void
}
define internal void @outlined(ptr %gtid, ptr %btid) {
  %p = call ptr @malloc(i64 1)
  ret void
}
define internal i32 @task(i32 %gtid, ptr %task) {
  %p = call ptr @malloc(i64 1)
  ret i32 0
}
define internal ptr @thread(ptr %argument) {
  %p = call ptr @malloc(i64 1)
  ret ptr %p
}
!0 = !{!1}
!1 = !{i64 2, i64 -1, i64 -1, i1 true}
