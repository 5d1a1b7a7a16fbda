# Sourced by the scripts of this folder and by .ci/run. Sets `root`, the top of this clone.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '== %s\n' "$*"; }

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Compilers at once: one per core, but each may take 1.5 GB.
jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ { print int($2 / 1500000) }' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

# build <preset> [target]...: all targets if none is named. One build of a clone at a time.
build() {
  local preset=$1
  shift
  say "building $preset${*:+: $*}"
  mkdir -p "$root/build"
  (
    flock 9
    cd "$root"
    if [ ! -f "build/$preset/build.ninja" ]; then
      cmake --preset "$preset" >"build/configure-$preset.log" 2>&1 || {
        cat "build/configure-$preset.log" >&2
        die "cmake could not configure the build: see above"
      }
    fi
    cmake --build --preset "$preset" -j "$(jobs)" ${*:+--target "$@"}
  ) 9>"$root/build/.lock"
}

# run_tests <preset> [ctest argument]...
run_tests() {
  local preset=$1
  shift
  ctest --test-dir "$root/build/$preset" -j "$(nproc)" --output-on-failure --no-tests=error "$@"
}
