# hypre's own test drivers: algebraic multigrid alone and under Krylov solvers, struct solvers.
set -e
test=$TREE/src/test
for solver in 0 1 3 8 61; do
    "$test/ij" -n 20 20 20 -solver $solver >ij.$solver.txt
done
"$test/ij" -27pt -n 14 14 14 -solver 1 -interptype 6 -Pmx 4 -agg_nl 1 >ij.27pt.txt
for solver in 0 1 10; do
    "$test/struct" -n 20 20 20 -solver $solver >struct.$solver.txt
done
