s/ [0-9.]*u [0-9:.]*$//
s/elapsed.*//
/[Tt]ime/d
s/Version: ImageMagick.*//
