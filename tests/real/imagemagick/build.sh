# ImageMagick's libraries, its converter and its validation program.  In the source tree.
set -e
case $1 in
configure) ./configure --disable-docs --disable-static --without-x --without-perl --without-magick-plus-plus ;;
make) make -j"$JOBS" utilities/convert tests/validate ;;
unlink) rm -rf magick/*.la magick/.libs/*.so* wand/*.la wand/.libs/*.so* utilities/convert utilities/.libs tests/validate tests/.libs ;;
esac
