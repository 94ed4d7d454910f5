// tokio_echo ADDRESS PORT [THREADS]: tokio on one thread or more, a task for each connection.
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

async fn echo(mut peer: TcpStream) -> std::io::Result<()> {
    let mut buffer = [0u8; 1024];
    loop {
        let count = peer.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        peer.write_all(&buffer[..count]).await?;
    }
}

async fn serve(at: String) -> std::io::Result<()> {
    let listener = TcpListener::bind(at).await?;
    loop {
        let (peer, _) = listener.accept().await?;
        peer.set_nodelay(true)?;
        tokio::spawn(echo(peer));
    }
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let runtime = match arguments.get(3) {
        None => tokio::runtime::Builder::new_current_thread().enable_all().build()?,
        Some(threads) => tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads.parse().unwrap())
            .enable_all()
            .build()?,
    };
    // Spawned, so that the accepting loop is scheduled like the others.
    runtime.block_on(async move { tokio::spawn(serve(format!("{}:{}", arguments[1], arguments[2]))).await.unwrap() })
}
