# Filters, geometry and colour on made images, then parts of ImageMagick's own validation.
set -e
export OMP_NUM_THREADS=2
export MAGICK_CONFIGURE_PATH="$TREE/config" # since it was not installed
convert=$TREE/utilities/convert
"$convert" -seed 7 -size 240x200 plasma:red-blue start.ppm
"$convert" start.ppm -resize 150% -blur 0x2 -sharpen 0x1 filtered.ppm
"$convert" start.ppm -rotate 17 -distort Perspective '0,0 9,9 239,0 220,5 0,199 4,180 239,199 239,199' moved.ppm
"$convert" start.ppm -dither None -colors 32 -morphology Dilate Octagon colours.ppm
"$convert" start.ppm -colorspace Lab -equalize -charcoal 1 -median 2 -paint 2 tones.ppm
"$convert" start.ppm filtered.ppm -resize 100x100! +append -negate joined.ppm
for part in colorspace compare composite import-export stream; do
    "$TREE/tests/validate" -validate $part >validate.$part.txt
done
