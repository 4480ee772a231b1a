# The whole benchmark on one process, on a small problem.
set -e
sed -e 's/^1000 *Ns/600 Ns/' -e 's/^2 *Ps/1 Ps/' -e 's/^2 *Qs/1 Qs/' "$TREE/_hpccinf.txt" >hpccinf.txt
export OPENBLAS_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
"$TREE/hpcc" >hpcc.txt
