; What was said of the memory that a function touches is taken back from functions
; with a site and from their callers, and from nobody else.
; RUN: %options="module=m" %onepass -passes=thermocline-annotate,verify %s | FileCheck %s

declare ptr @malloc(i64)
declare ptr @strdup(ptr)

; CHECK: define ptr @allocates() #[[NONE:[0-9]+]]
define ptr @allocates() #0 {
  %p = call ptr @malloc(i64 1)
  ret ptr %p
}
; CHECK: define ptr @carries(ptr %s) #[[NONE]]
define ptr @carries(ptr %s) #0 {
  %p = call ptr @strdup(ptr %s)
  ret ptr %p
}
; CHECK: define ptr @calls() #[[NONE]]
; CHECK-NEXT: call ptr @allocates(){{$}}
define ptr @calls() #0 {
  %p = call ptr @allocates() #1
  ret ptr %p
}
; CHECK: define void @callsCalls() #[[NONE]]
define void @callsCalls() #0 {
  %p = call ptr @calls()
  ret void
}
; CHECK: define ptr @mentions() #[[KEPT:[0-9]+]]
define ptr @mentions() #0 {
  ret ptr @allocates
}
; CHECK-DAG: attributes #[[NONE]] = { nounwind }
; CHECK-DAG: attributes #[[KEPT]] = { nounwind memory(inaccessiblemem: readwrite) }
attributes #0 = { nounwind memory(inaccessiblemem: readwrite) }
attributes #1 = { memory(inaccessiblemem: readwrite) }
