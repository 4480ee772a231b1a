; The module's structure, its notes, and what other passes leave for it.
; RUN: printf 'a.o: native\nb.o: native\n' > %t.native
; RUN: %options="module=x%3By;native=%t.native;colour=red" %onepass -passes=thermocline-annotate %s 2> %t.err | FileCheck %s
; RUN: FileCheck %s --check-prefix=ERR < %t.err
; Two runs over the same input give the same bytes.
; RUN: %options="module=m;context=1" %pass %s -o %t.1
; RUN: %options="module=m;context=1" %pass %s -o %t.2
; RUN: cmp %t.1 %t.2
; A module without code is left alone.
; RUN: echo 'target triple = "x86_64-pc-linux-gnu"' | %options="module=m" %pass - | FileCheck %s --check-prefix=EMPTY

; EMPTY-NOT: thermocline

; The wrapper's notes are in the table; it has told them itself.
; ERR: thermocline: option "colour=red" is unknown or malformed and was ignored
; ERR-NOT: {{.}}

; CHECK-DAG: @thermocline.keys = {{.*}}c"thermocline-sites 1 module=x;y context=0\00x;y!f@?:0\00malloc\001\00\00option \22colour=red\22 is unknown or malformed and was ignored\00a.o: native\00b.o: native\00"
; CHECK-DAG: @thermocline.module = internal global { i32, i32, ptr, ptr, i64, ptr, i64, ptr, ptr, i64, ptr, ptr } { i32 6, i32 1, ptr @thermocline.sites, ptr @thermocline.keys, i64 {{[0-9]+}}, ptr @thermocline.twins, i64 2, ptr @__stop_thermocline_text, ptr @thermocline.functions, i64 3, ptr null, ptr null }
; CHECK-DAG: @thermocline.sites = internal global [1 x { i32, i32, i32, i32 }] [{ i32, i32, i32, i32 } { i32 0, i32 0, i32 41, i32 51 }]

; A twin's call has the site of the call it was copied from, and isn't counted.
; CHECK: define void @f.twin()
; CHECK-NEXT: call ptr @tc_malloc(i64 1, ptr @thermocline.sites)

; CHECK: define internal void @thermocline.load()
; CHECK-NEXT: call void @tc_module_load(ptr @thermocline.module)
; CHECK: define internal void @thermocline.unload()
; CHECK-NEXT: call void @tc_module_unload(ptr @thermocline.module)

@thermocline.twins = private constant [2 x { i32, i32 }] zeroinitializer
@thermocline.functions = private global [3 x { i32, i32 }] zeroinitializer

declare ptr @malloc(i64)
define void @f() {
  %p = call ptr @malloc(i64 1)
  ret void
}
define void @f.twin() "thermocline-function"="f" section "thermocline_text" {
  %p = call ptr @malloc(i64 1)
  ret void
}
