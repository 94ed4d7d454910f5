#!/bin/sh
# gateway.sh VARIABLE PROGRAM CONFIG PORT UPSTREAM: ours, with a configuration that names the upstream.
cat >"$3" <<END
[server]
listen = "127.0.0.1:$4"
access_log = "/dev/null"
[[provider]]
name = "upstream"
url = "http://127.0.0.1:$5/v1"
models = ["m"]
END
exec env "$1" "$2" --config "$3"
