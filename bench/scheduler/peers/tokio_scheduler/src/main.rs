// tokio_scheduler CASE WORKERS: tokio's tasks and channels; with one worker its single-threaded runtime.
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

const SPAWNED: u64 = 1_000_000;
const YIELDS: u64 = 2_000_000;
const ITEMS: u64 = 10_000_000;
const ROOM: usize = 1024;
const EXCHANGES: u64 = 100_000;
const SLEEPERS: u64 = 100_000;

fn skynet(first: u64, size: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        if size == 1 {
            return first;
        }
        let part = size / 10;
        let mut children = Vec::with_capacity(10);
        for i in 0..10 {
            children.push(tokio::spawn(skynet(first + i * part, part)));
        }
        let mut sum = 0;
        for each in children {
            sum += each.await.unwrap();
        }
        sum
    })
}

async fn spawn_join() -> u64 {
    let count = Arc::new(AtomicU64::new(0));
    for _ in 0..SPAWNED / 100 {
        let mut children = Vec::with_capacity(100);
        for _ in 0..100 {
            let count = count.clone();
            children.push(tokio::spawn(async move {
                count.fetch_add(1, Ordering::Relaxed);
            }));
        }
        for each in children {
            each.await.unwrap();
        }
    }
    count.load(Ordering::Relaxed)
}

async fn yields() -> u64 {
    let yielding = || async {
        for _ in 0..YIELDS / 2 {
            tokio::task::yield_now().await;
        }
    };
    let (one, other) = (tokio::spawn(yielding()), tokio::spawn(yielding()));
    one.await.unwrap();
    other.await.unwrap();
    YIELDS
}

async fn channel() -> u64 {
    let (to, mut from) = mpsc::channel::<u64>(ROOM);
    tokio::spawn(async move {
        for _ in 0..ITEMS {
            to.send(1).await.unwrap();
        }
    });
    tokio::spawn(async move {
        let mut sum = 0;
        while let Some(item) = from.recv().await {
            sum += item;
        }
        sum
    })
    .await
    .unwrap()
}

async fn ping_pong() -> u64 {
    let (there, mut thence) = mpsc::channel::<u64>(1);
    let (back, mut returned) = mpsc::channel::<u64>(1);
    tokio::spawn(async move {
        for _ in 0..EXCHANGES {
            let ball = thence.recv().await.unwrap();
            back.send(ball + 1).await.unwrap();
        }
    });
    tokio::spawn(async move {
        let mut hits = 0;
        for _ in 0..EXCHANGES {
            there.send(hits).await.unwrap();
            hits = returned.recv().await.unwrap();
        }
        hits
    })
    .await
    .unwrap()
}

async fn timers() -> u64 {
    let mut children = Vec::with_capacity(SLEEPERS as usize);
    for i in 0..SLEEPERS {
        children.push(tokio::spawn(tokio::time::sleep(Duration::from_micros(1000 + i % 1000))));
    }
    for each in children {
        each.await.unwrap();
    }
    SLEEPERS
}

fn run(runtime: &Runtime, name: &str) -> (u64, u64, u64) {
    match name {
        "skynet" => (runtime.block_on(skynet(0, 1_000_000)), 499_999_500_000, 0),
        "spawn_join" => (runtime.block_on(spawn_join()), SPAWNED, SPAWNED),
        "yield" => (runtime.block_on(yields()), YIELDS, YIELDS),
        "channel_1_to_1" => (runtime.block_on(channel()), ITEMS, ITEMS),
        "ping_pong" => (runtime.block_on(ping_pong()), EXCHANGES, EXCHANGES),
        "timers" => (runtime.block_on(timers()), SLEEPERS, SLEEPERS),
        _ => std::process::exit(2),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let workers: usize = arguments[2].parse().unwrap();
    let runtime = if workers == 1 {
        Builder::new_current_thread().enable_all().build().unwrap()
    } else {
        Builder::new_multi_thread().worker_threads(workers).enable_all().build().unwrap()
    };
    for round in 0..2 {
        let begun = Instant::now();
        let (got, expected, operations) = run(&runtime, &arguments[1]);
        let nanoseconds = begun.elapsed().as_nanos() as f64;
        if got != expected {
            std::process::exit(3);
        }
        if round == 0 {
            continue;
        }
        if operations == 0 {
            println!("time ms {:.4}", nanoseconds / 1e6);
        } else {
            println!("time ns/op {:.3}", nanoseconds / operations as f64);
        }
    }
}
