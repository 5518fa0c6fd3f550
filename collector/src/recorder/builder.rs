//! How a recorder starts.

use std::path::PathBuf;

use super::Recorder;
use crate::device::{NoProbe, Probe};
use crate::error::Error;
use crate::journal::{Journal, Limits, Line, Weight};
use crate::place::Place;
use crate::records;

/// What a recorder is to do. Everything has a default.
pub struct Builder {
    directory: Option<PathBuf>,
    rank: Option<u32>,
    limits: Limits,
    probe: Box<dyn Probe>,
    metadata: Vec<(String, String)>,
    writer: &'static str,
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Builder")
            .field("directory", &self.directory)
            .field("rank", &self.rank)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            directory: None,
            rank: None,
            limits: Limits::default(),
            probe: Box::new(NoProbe),
            metadata: Vec::new(),
            writer: "rust",
        }
    }
}

impl Builder {
    /// The run's folder; `MEMSCOPE_DIR` or `memscope_outputs` when not given.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// The rank; the launcher's variables say it when not given.
    #[must_use]
    pub fn rank(mut self, rank: u32) -> Self {
        self.rank = Some(rank);
        self
    }

    /// How much the journal may take on disk.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Where figures come from (`CudaProbe` with the feature `cuda`, or a function). Without one they
    /// are unknown.
    #[must_use]
    pub fn probe(mut self, probe: impl Probe + 'static) -> Self {
        self.probe = Box::new(probe);
        self
    }

    /// A fact about the run: becomes `metadata` of the report.
    #[must_use]
    pub fn metadata(mut self, key: &str, value: &str) -> Self {
        self.metadata.push((key.to_owned(), value.to_owned()));
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub fn writer(mut self, writer: &'static str) -> Self {
        self.writer = writer;
        self
    }

    /// Starts recording.
    ///
    /// # Errors
    /// [`Error::Create`] when the journal cannot be made.
    pub fn start(self) -> Result<Recorder, Error> {
        let place = Place::resolve(self.directory.as_deref(), self.rank);
        let journal = Journal::create(&place, self.writer, self.limits)?;
        journal.header(&place, self.writer);
        let device = self.probe.device();
        let mut metadata: Vec<(&str, &str)> = vec![("mode", "runtime"), ("framework", self.writer)];
        let ordinal = device.as_ref().map(|d| format!("cuda:{}", d.ordinal));
        if let (Some(device), Some(ordinal)) = (&device, &ordinal) {
            metadata.push(("device", ordinal));
            metadata.push(("device_name", &device.name));
        }
        metadata.extend(self.metadata.iter().map(|(k, v)| (k.as_str(), v.as_str())));
        let mut line = Line::new("update")
            .json("metadata", &records::object(metadata))
            .json("sources", &records::sources(&self.probe.sources()));
        if let Some(device) = &device {
            line = line
                .json("devices", &records::devices(std::slice::from_ref(device)))
                .number("device", Some(device.ordinal));
        }
        journal.write(Weight::Essential, &line);
        Ok(Recorder::with(
            Some(journal),
            self.probe,
            device.map(|d| d.ordinal),
        ))
    }

    /// Starts recording, or says on stderr why not and gives a recorder that does nothing: for
    /// programs that must run either way.
    #[must_use]
    pub fn start_or_off(self) -> Recorder {
        self.start().unwrap_or_else(|error| {
            eprintln!("memscope: {error}. The program runs without being recorded");
            Recorder::off()
        })
    }
}
