wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.body = '{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}'
