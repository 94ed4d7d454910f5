#!/bin/sh
# nginx.sh PORT: one worker that answers GET / itself. The process stays this one.
folder=$(mktemp -d)
cat >"$folder/conf" <<END
daemon off; master_process off; pid $folder/pid; error_log /dev/null;
events { worker_connections 4096; }
http {
    access_log off; keepalive_requests 1000000000; client_body_temp_path $folder/body; proxy_temp_path $folder/proxy;
    fastcgi_temp_path $folder/f; uwsgi_temp_path $folder/u; scgi_temp_path $folder/s;
    server { listen 127.0.0.1:$1; location / { default_type text/plain; return 200 "Hello, world!"; } }
}
END
exec nginx -c "$folder/conf"
