#!/usr/bin/env bash
# install_packages.sh GROUP...   installs what the groups need and this machine lacks
#
# Groups: build, sanitize, gcc, check. Asks the machine for each program or file first, so that a complete machine of
# any distribution costs a few milliseconds and no package manager. Installs by apt-get as root or by sudo that asks
# no password; otherwise prints the line to run and fails.
set -euo pipefail

need() { # need PACKAGE COMMAND...: the package is missing unless the command succeeds
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}
links_with_sanitizer() {
    echo 'int main() {}' | clang++-19 -fsanitize=thread -x c++ - -o /dev/null
}

has_boost_json() {
    printf '#include <boost/json/basic_parser.hpp>\n#include <boost/version.hpp>\n%s\n' \
        'static_assert(BOOST_VERSION >= 108100);' | c++ -std=c++17 -x c++ -fsyntax-only -
}

groups=("$@")
look() { # fills `missing`
    local group
    missing=()
    for group in "${groups[@]}"; do
        case $group in
        build)
            need cmake command -v cmake
            need ninja-build command -v ninja
            need clang-19 command -v clang++-19
            need g++ sh -c 'echo "#include <expected>" | c++ -std=c++23 -x c++ -fsyntax-only -'
            need pkg-config command -v pkg-config
            need python3 command -v python3
            need curl command -v curl
            need ccache command -v ccache
            need libcli11-dev sh -c 'echo "#include <CLI/CLI.hpp>" | c++ -std=c++23 -x c++ -E -'
            need libtomlplusplus-dev sh -c 'echo "#include <toml++/toml.h>" | c++ -std=c++20 -x c++ -E -'
            need libboost-json1.81-dev has_boost_json
            need libgtest-dev sh -c 'echo "#include <gtest/gtest.h>" | c++ -x c++ -E -'
            ;;
        sanitize)
            need llvm-19 test -x /usr/lib/llvm-19/bin/llvm-symbolizer
            need libclang-rt-19-dev links_with_sanitizer
            ;;
        gcc) need g++ command -v g++ ;;
        check)
            need clang-format-19 command -v clang-format-19
            need clang-tools-19 command -v clang-query-19
            ;;
        *)
            echo "install_packages.sh: no group '$group'" >&2
            exit 2
            ;;
        esac
    done
}

look
[ ${#missing[@]} -gt 0 ] || exit 0
mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)

# Nothing is removed: a newer package may exclude an older one that somebody needs, as those of Boost do.
apt=(apt-get install -y --no-install-recommends --no-remove)
line="${apt[*]} ${missing[*]}"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo)
    line="sudo $line"
fi
if ! command -v apt-get >/dev/null; then
    echo "This machine lacks what the Debian packages '${missing[*]}' provide; please install them." >&2
    exit 1
fi
if [ "$(id -u)" -ne 0 ] && ! sudo -n true 2>/dev/null; then
    printf 'These packages are missing, and installing them needs root. Please run:\n    %s\n' "$line" >&2
    exit 1
fi
echo "+ $line"
export DEBIAN_FRONTEND=noninteractive
if ! "${as_root[@]}" "${apt[@]}" "${missing[@]}"; then
    # The lists of a fresh machine are empty or old.
    "${as_root[@]}" apt-get update
    if ! "${as_root[@]}" "${apt[@]}" "${missing[@]}"; then
        printf 'apt-get could not install what is missing. The line was:\n    %s\n' "$line" >&2
        exit 1
    fi
fi

# A distribution may have a package of that name which is too old.
look
if [ ${#missing[@]} -gt 0 ]; then
    echo "Still missing after the installation, so this system is too old for pitsaw: ${missing[*]}" >&2
    exit 1
fi
