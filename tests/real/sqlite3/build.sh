# SQLite: its shell, and fuzzcheck, which is its own test program.  In the source tree.
set -e
case $1 in
configure) ./configure --disable-tcl --disable-readline --disable-shared ;;
make) make -j"$JOBS" sqlite3 fuzzcheck ;;
unlink) rm -f sqlite3 fuzzcheck ;;
esac
