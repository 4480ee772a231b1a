/wall clock time/d
/cpu clock time/d
/MFLOPS/d
