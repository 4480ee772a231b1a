# HPCC with Debian's Open MPI, whose mpicc calls the compiler that OMPI_CC names.
set -e
export OMPI_CC="$CC"
case $1 in
configure) cp "$RECIPE/Make.real" hpl/Make.real ;;
make) make arch=real ;;
unlink) rm -f hpcc ;;
esac
