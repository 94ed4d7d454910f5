#!/bin/sh
# nginx.sh PORT UPSTREAM: one worker that passes everything on, over kept connections. The process stays this one.
folder=$(mktemp -d)
cat >"$folder/conf" <<END
daemon off; master_process off; pid $folder/pid; error_log /dev/null;
events { worker_connections 4096; }
http {
    access_log off; keepalive_requests 1000000000; client_body_temp_path $folder/body; proxy_temp_path $folder/proxy;
    fastcgi_temp_path $folder/f; uwsgi_temp_path $folder/u; scgi_temp_path $folder/s;
    upstream up { server 127.0.0.1:$2; keepalive 256; keepalive_requests 1000000000; }
    server {
        listen 127.0.0.1:$1;
        location / {
            proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;
        }
    }
}
END
exec nginx -c "$folder/conf"
