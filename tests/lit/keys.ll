; Forms of a frame: scopes, paths, library headers, inlining, missing places.
; RUN: %options="module=a b;context=2" %pass %s | FileCheck %s

; The module's name is one word too, and no key is longer than its N + 1 frames.
; CHECK: c"thermocline-sites 1 module=a_b context=2\00
; A header's frames are hidden, wherever the inlining put them.
; CHECK-SAME: a_b!inlined@src/a.cc:20:2 < deep@src/a.cc:30:2 < ns::Box<int>::(anonymous_namespace)::grow@src/a.cc:40:2\00malloc\001\00
; Only a header's frames: then they are shown.
; CHECK-SAME: a_b!ns::Box<int>::push@bits/vector.h:7:2\00malloc\001\00
; No location: the function's name all the same.
; CHECK-SAME: a_b!plain@?:0\00malloc\001\00
; No column, line 0.
; CHECK-SAME: a_b!plain@src/a.cc:0\00malloc\001\00
; CHECK-SAME: a_b!plain@src/a.cc:5\00malloc\002\00
; No debug information: the symbol, demangled.
; CHECK-SAME: a_b!space::Type::method@?:0\00malloc\001\00
; CHECK-SAME: a_b!spaced_name_01234567890123456789012345678901234567890123456789012345678901234567@top.f90:3\00malloc\001\00\00

declare ptr @malloc(i64)

define void @grow() !dbg !20 {
  %p = call ptr @malloc(i64 1), !dbg !30
  ret void
}
define void @push() !dbg !21 {
  %p = call ptr @malloc(i64 1), !dbg !40
  ret void
}
define void @plain() !dbg !22 {
  %p = call ptr @malloc(i64 1), !dbg !41
  %q = call ptr @malloc(i64 2), !dbg !41
  %r = call ptr @malloc(i64 3), !dbg !42
  %s = call ptr @malloc(i64 4)
  ret void
}
define void @_ZN5space4Type6methodEi() {
  %s = call ptr @malloc(i64 4)
  ret void
}
define void @long() !dbg !23 {
  %p = call ptr @malloc(i64 1), !dbg !43
  ret void
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!1}
!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus, file: !2, emissionKind: FullDebug)
!1 = !{i32 2, !"Debug Info Version", i32 3}
!2 = !DIFile(filename: "../work/./src/a.cc", directory: "/home/x")
!3 = !DIFile(filename: "/usr/lib/gcc/x/../../include/c++/12/bits/vector.h", directory: "/home/x")
!4 = !DIFile(filename: "/top.f90", directory: "/")
!5 = !DISubroutineType(types: !{null})
!10 = !DINamespace(name: "ns", scope: null)
!11 = !DICompositeType(tag: DW_TAG_class_type, name: "Box<int>", scope: !10, file: !2)
!12 = !DINamespace(scope: !11)
!20 = distinct !DISubprogram(name: "grow", scope: !12, file: !2, unit: !0, type: !5, spFlags: DISPFlagDefinition)
!21 = distinct !DISubprogram(name: "push", scope: !11, file: !3, unit: !0, type: !5, spFlags: DISPFlagDefinition)
!22 = distinct !DISubprogram(name: "plain", scope: !2, file: !2, unit: !0, type: !5, spFlags: DISPFlagDefinition)
!23 = distinct !DISubprogram(name: "spaced name\09012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789", scope: !4, file: !4, unit: !0, type: !5, spFlags: DISPFlagDefinition)
!24 = distinct !DISubprogram(name: "deep", scope: !2, file: !2, unit: !0, type: !5, spFlags: DISPFlagDefinition)
!25 = distinct !DISubprogram(name: "inlined", scope: !2, file: !2, unit: !0, type: !5, spFlags: DISPFlagDefinition)
!26 = distinct !DISubprogram(name: "middle", scope: !3, file: !3, unit: !0, type: !5, spFlags: DISPFlagDefinition)
; malloc in push, in inlined, in middle (a header), in deep, in grow
!30 = !DILocation(line: 7, column: 2, scope: !21, inlinedAt: !31)
!31 = distinct !DILocation(line: 20, column: 2, scope: !25, inlinedAt: !32)
!32 = distinct !DILocation(line: 9, column: 2, scope: !26, inlinedAt: !33)
!33 = distinct !DILocation(line: 30, column: 2, scope: !24, inlinedAt: !34)
!34 = distinct !DILocation(line: 40, column: 2, scope: !20)
!40 = !DILocation(line: 7, column: 2, scope: !21)
!41 = !DILocation(line: 5, scope: !22)
!42 = !DILocation(line: 0, scope: !22)
!43 = !DILocation(line: 3, scope: !23)
