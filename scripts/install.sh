#!/bin/sh
# Installs a finished build: install.sh DESTDIR PREFIX BUILD.  Called by `make install`.
set -eu
destdir=$1 prefix=$2 build=$3
case $prefix in
/*) ;;
*) echo "install: PREFIX must be an absolute path, not $prefix" >&2; exit 2 ;;
esac
top=$destdir$prefix
mkdir -p "$top/bin" "$top/lib/thermocline"
install -m 755 "$build/bin/thermocline-clang" "$top/bin/thermocline-clang"
ln -sf thermocline-clang "$top/bin/thermocline-clang++"
ln -sf thermocline-clang "$top/bin/thermocline-flang"
# For build systems that know compilers by name (libtool).
mkdir -p "$top/lib/thermocline/bin"
for name in clang clang++ flang; do
    ln -sf ../../../bin/thermocline-clang "$top/lib/thermocline/bin/$name"
done
install -m 755 "$build"/lib/thermocline/*.so "$top/lib/thermocline/"
install -m 755 "$build/lib/thermocline/thermocline-trace" \
    "$build/lib/thermocline/thermocline-simulator" "$build/lib/thermocline/thermocline-measure" \
    "$top/lib/thermocline/"
install -m 644 "$build"/lib/thermocline/*.a "$top/lib/thermocline/" # for -static
mkdir -p "$top/include/thermocline"
install -m 644 "$build"/include/thermocline/* "$top/include/thermocline/"
for folder in lib/cmake/thermocline lib/pkgconfig; do
    mkdir -p "$top/$folder"
    install -m 644 "$build/$folder"/* "$top/$folder/"
done
# Python packages in an environment of their own, called with the prefix they belong to.
python3 -m venv "$top/lib/thermocline/python"
# From a copy: setuptools would otherwise put its own things into build/lib, which is ours.
source=$(mktemp -d)
trap 'rm -rf "$source"' EXIT
cp -r pyproject.toml thermocline machines workloads "$source"
"$top/lib/thermocline/python/bin/python" -m pip install --quiet --disable-pip-version-check \
    "$source[report,cluster]"
"$top/lib/thermocline/python/bin/python" scripts/manual.py man "$top/share/man/man1" \
    "$build/bin/thermocline-clang"
cat >"$top/bin/thermocline" <<END
#!/bin/sh
here=\$(dirname "\$(readlink -f "\$0")")
THERMOCLINE_PREFIX=\${THERMOCLINE_PREFIX:-\$(dirname "\$here")}
export THERMOCLINE_PREFIX
exec "\$THERMOCLINE_PREFIX/lib/thermocline/python/bin/python" -m thermocline "\$@"
END
chmod 755 "$top/bin/thermocline"
echo "thermocline is installed: $top/bin/thermocline --help"
