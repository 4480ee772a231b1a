# hypre without MPI: the library and its test drivers.  In the source tree.
set -e
cd src
case $1 in
configure) ./configure --without-MPI ;;
make)
    make -j"$JOBS"
    make -C test -j"$JOBS" ij struct
    ;;
unlink) rm -f test/ij test/struct ;;
esac
