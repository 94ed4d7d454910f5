// hyper_http ADDRESS PORT: hyper on one thread of tokio.
use hyper::service::{make_service_fn, service_fn};
use hyper::{Body, Request, Response, Server};
use std::convert::Infallible;

async fn hello(_: Request<Body>) -> Result<Response<Body>, Infallible> {
    Ok(Response::builder().header("Content-Type", "text/plain").body(Body::from("Hello, world!")).unwrap())
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let at = format!("{}:{}", arguments[1], arguments[2]).parse().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async move {
        let service = make_service_fn(|_| async { Ok::<_, Infallible>(service_fn(hello)) });
        Server::bind(&at).tcp_nodelay(true).http1_pipeline_flush(true).serve(service).await.unwrap()
    });
}
