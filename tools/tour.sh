#!/usr/bin/env bash
# tour.sh FOLDER   runs every example, in order of its number, from a folder of built ones
set -euo pipefail
cd "$(dirname "$0")/.."

shopt -s nullglob
sources=(examples/*.cpp)
if [ ${#sources[@]} -eq 0 ]; then
    echo 'There is no example to run.' >&2
    exit 1
fi

# Hours of sleep cost nothing in the simulated driver's time.
export PITSAW_DRIVER=sim
failed=()
for source in "${sources[@]}"; do
    name=$(basename "$source" .cpp)
    printf '\n== %s\n' "$source"
    "$1/$name" || failed+=("$name")
done
if [ ${#failed[@]} -gt 0 ]; then
    printf '\nThese examples failed: %s\n' "${failed[*]}" >&2
    exit 1
fi
