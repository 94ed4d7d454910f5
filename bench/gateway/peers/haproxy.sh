#!/bin/sh
# haproxy.sh PORT UPSTREAM: one thread that passes everything on, over kept connections.
folder=$(mktemp -d)
cat >"$folder/conf" <<END
global
    nbthread 1
    maxconn 4096
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
    http-reuse always
frontend in
    bind 127.0.0.1:$1
    default_backend up
backend up
    server one 127.0.0.1:$2
END
exec haproxy -db -f "$folder/conf"
