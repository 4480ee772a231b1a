; Olson et al. 2018, Fig. 3: D is reached by A, B and C; each path gets its own D.
; RUN: %options="module=m;context=0" %pass %s | FileCheck %s --check-prefix=N0
; RUN: %options="module=m;context=1" %pass %s | FileCheck %s --check-prefix=N1
; RUN: %options="module=m;context=2" %pass %s | FileCheck %s --check-prefix=N2

; N0: c"thermocline-sites 1 module=m context=0\00m!D@?:0\00malloc\001\00\00"
; N0-NOT: .tc1

; N1: c"thermocline-sites 1 module=m context=1\00m!D@?:0 < A@?:0\00malloc\001\00m!D@?:0 < B@?:0\00malloc\001\00m!D@?:0 < C@?:0\00malloc\001\00\00"

; N2: c"thermocline-sites 1 module=m context=2\00m!D@?:0 < A@?:0 < main@?:0\00malloc\001\00m!D@?:0 < B@?:0 < main@?:0\00malloc\001\00m!D@?:0 < C@?:0 < main@?:0\00malloc\001\00\00"

declare ptr @malloc(i64)

define i32 @main() {
  %a = call ptr @A()
  %b = call ptr @B()
  %c = call ptr @C()
  call void @unrelated()
  ret i32 0
}

; N1: define internal ptr @A() {{.*}}
; N1-NEXT: call ptr @D(i64 1)
define internal ptr @A() {
  %p = call ptr @D(i64 1)
  ret ptr %p
}
; N1: define internal ptr @B() {{.*}}
; N1-NEXT: call ptr @D.tc1(i64 2)
define internal ptr @B() {
  %p = call ptr @D(i64 2)
  ret ptr %p
}
; N1: define internal ptr @C() {{.*}}
; N1-NEXT: call ptr @D.tc2(i64 3)
define internal ptr @C() {
  %p = call ptr @D(i64 3)
  ret ptr %p
}
define internal ptr @D(i64 %n) {
  %p = call ptr @malloc(i64 %n)
  call void @unrelated()
  ret ptr %p
}

; Only what leads to an allocation is copied.
; N1-NOT: @unrelated.tc
; N1: define internal void @unrelated()
define internal void @unrelated() {
  ret void
}
; N1-NOT: @unrelated.tc
