//! One page over HTTP, with the headers that a host sends; and a trap for requests that should
//! not be there.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Answers every request with the same page.
#[derive(Debug)]
pub struct Server {
    /// Port on 127.0.0.1.
    pub port: u16,
    paths: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Serves `body` as HTML with these further header lines. Lives as long as the process.
    #[must_use]
    pub fn start(headers: &str, body: Vec<u8>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let paths = Arc::new(Mutex::new(Vec::new()));
        let (seen, headers) = (Arc::clone(&paths), headers.to_owned());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Some(line) = request(&stream) else {
                    continue;
                };
                seen.lock().expect("no panic before").push(line);
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n{headers}Connection: close\r\n\r\n",
                    body.len()
                );
                let mut stream = stream;
                let _ = stream
                    .write_all(head.as_bytes())
                    .and_then(|()| stream.write_all(&body));
            }
        });
        Self { port, paths }
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/report.html", self.port)
    }

    /// What was asked for beside the page itself and its icon (which browsers ask for by
    /// themselves).
    #[must_use]
    pub fn others(&self) -> Vec<String> {
        let paths = self.paths.lock().expect("no panic before");
        let own = |p: &&String| !p.contains(" /report.html ") && !p.contains(" /favicon.ico ");
        paths.iter().filter(own).cloned().collect()
    }
}

/// Stands as the browser's proxy: whatever leaves the page for any host arrives here, and nothing
/// goes further.
#[derive(Debug)]
pub struct Trap {
    /// Port on 127.0.0.1.
    pub port: u16,
    caught: Arc<Mutex<Vec<String>>>,
}

impl Trap {
    /// Sets it up. Lives as long as the process.
    #[must_use]
    pub fn set() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let caught = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&caught);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                seen.lock()
                    .expect("no panic before")
                    .extend(request(&stream));
            }
        });
        Self { port, caught }
    }

    /// What was caught, without what the browser asks its maker for.
    #[must_use]
    pub fn caught(&self) -> Vec<String> {
        const MAKER: [&str; 3] = ["google.com", "googleapis.com", "gvt1.com"];
        let caught = self.caught.lock().expect("no panic before");
        let maker = |l: &&String| {
            let host = l
                .split([' ', '/', ':'])
                .find(|p| p.contains('.'))
                .unwrap_or_default();
            !MAKER
                .iter()
                .any(|m| host == *m || host.ends_with(&format!(".{m}")))
        };
        caught.iter().filter(maker).cloned().collect()
    }
}

/// The request's first line; its head is read to the end.
fn request(stream: &TcpStream) -> Option<String> {
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let mut reader = BufReader::new(stream.take(64 << 10));
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut line = String::new();
    while reader.read_line(&mut line).ok()? > 2 {
        line.clear();
    }
    (!first.is_empty()).then(|| first.trim_end().to_owned())
}
