# ImageMagick, installed beside its build, since it looks for its settings there.
set -e
case $1 in
configure) ./configure --prefix="$PWD/inst" --disable-docs --without-x --without-perl --disable-static ;;
make)
    make -j"$JOBS" all tests/validate
    make install
    ;;
clean) make clean ;;
esac
