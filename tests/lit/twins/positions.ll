; Each group says where its references stand in the source: function and file once, then line and
; column (line << 12 | column).  A frame in a library header is left out for its caller.
; RUN: %onepass -passes=thermocline-twins,verify %s | FileCheck %s
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; 5 << 12 | 3 and 6 << 12 | 7.
; CHECK: @thermocline.group = {{.*}}@thermocline.place to i64), {{.*}}, i32 20483 }]
; CHECK: @thermocline.group.{{[0-9]+}} = {{.*}}@thermocline.place to i64), {{.*}}, i32 24583 }]
; CHECK: @thermocline.place = private constant [17 x i8] c"solve\00src/grid.c\00"
; CHECK-NOT: c"{{.*}}src/grid.c

define void @solve(ptr %p) !dbg !4 {
  store i64 1, ptr %p, align 8, !dbg !6
  %q = getelementptr i8, ptr %p, i64 640
  store i64 1, ptr %q, align 8, !dbg !10
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!3}
!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, emissionKind: LineTablesOnly)
!1 = !DIFile(filename: "src/grid.c", directory: "/home")
!2 = !DISubroutineType(types: !11)
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = distinct !DISubprogram(name: "solve", file: !1, line: 4, type: !2, unit: !0, spFlags: DISPFlagDefinition)
!5 = distinct !DISubprogram(name: "get", file: !7, line: 90, type: !2, unit: !0, spFlags: DISPFlagDefinition)
!6 = !DILocation(line: 5, column: 3, scope: !4)
!7 = !DIFile(filename: "/usr/include/vector.h", directory: "/home")
!10 = !DILocation(line: 99, column: 1, scope: !5, inlinedAt: !9)
!9 = distinct !DILocation(line: 6, column: 7, scope: !4)
!11 = !{}
