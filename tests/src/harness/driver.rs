//! chromedriver: started when a test first needs it, killed when the last one lets go of it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, Weak};

/// How to get the browser.
pub(super) const INSTALL: &str = "The browser tests need Debian's Chromium:\n    \
     apt-get update && apt-get install -y --no-install-recommends chromium chromium-driver\n\
     (CHROME and CHROMEDRIVER name other binaries.)";

/// A running chromedriver.
pub(super) struct Driver {
    child: Child,
    pub(super) url: String,
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The one that runs, or a new one.
pub(super) fn shared() -> Arc<Driver> {
    static RUNNING: Mutex<Weak<Driver>> = Mutex::new(Weak::new());
    let mut running = RUNNING
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    running.upgrade().unwrap_or_else(|| {
        let new = Arc::new(start());
        *running = Arc::downgrade(&new);
        new
    })
}

/// chromedriver picks a port that is free for IPv4 and gives up when another process has it for
/// IPv6, so one start in some hundred fails: it is tried again.
const ATTEMPTS: usize = 10;

fn start() -> Driver {
    let exe = std::env::var("CHROMEDRIVER").unwrap_or_else(|_| "chromedriver".to_owned());
    let mut said = String::new();
    for _ in 0..ATTEMPTS {
        match attempt(&exe) {
            Ok(driver) => return driver,
            Err(output) => said = output,
        }
    }
    panic!("{exe} ended {ATTEMPTS} times without saying its port; it said: {said}\n{INSTALL}");
}

/// One start; what chromedriver said when it ended without a port.
fn attempt(exe: &str) -> Result<Driver, String> {
    let mut child = Command::new(exe)
        .arg("--port=0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|e| panic!("cannot start {exe}: {e}\n{INSTALL}"));
    let mut lines = BufReader::new(child.stdout.take().expect("piped"))
        .lines()
        .map_while(Result::ok);
    let mut said = Vec::new();
    let line = loop {
        match lines.next() {
            Some(line) if line.contains("successfully on port") => break line,
            Some(line) => said.push(line),
            None => {
                let _ = child.wait();
                return Err(said.join(" / "));
            }
        }
    };
    // Keeps the pipe open: chromedriver ends when it cannot write.
    std::thread::spawn(move || lines.for_each(drop));
    let port = line
        .trim_end_matches('.')
        .rsplit(' ')
        .next()
        .expect("a word");
    Ok(Driver {
        child,
        url: format!("http://127.0.0.1:{port}"),
    })
}
