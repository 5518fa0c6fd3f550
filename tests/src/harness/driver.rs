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

fn start() -> Driver {
    let exe = std::env::var("CHROMEDRIVER").unwrap_or_else(|_| "chromedriver".to_owned());
    let mut child = Command::new(&exe)
        .arg("--port=0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|e| panic!("cannot start {exe}: {e}\n{INSTALL}"));
    let mut lines = BufReader::new(child.stdout.take().expect("piped"))
        .lines()
        .map_while(Result::ok);
    let line = lines
        .find(|l| l.contains("successfully on port"))
        .unwrap_or_else(|| panic!("{exe} ended without saying its port\n{INSTALL}"));
    // Keeps the pipe open: chromedriver ends when it cannot write.
    std::thread::spawn(move || lines.for_each(drop));
    let port = line
        .trim_end_matches('.')
        .rsplit(' ')
        .next()
        .expect("a word");
    Driver {
        child,
        url: format!("http://127.0.0.1:{port}"),
    }
}
