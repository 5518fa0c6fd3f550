//! Memory by category over time, as PyTorch's profiler writes it
//! (`torch.profiler.profile.export_memory_timeline`).

/// What the profiler says that memory is for, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum SeriesCategory {
    /// Weights and buffers.
    Parameter = 0,
    /// State of the optimizer.
    OptimizerState = 1,
    /// Batches.
    Input = 2,
    /// What lives within one pass.
    Temporary = 3,
    /// What the forward pass keeps.
    Activation = 4,
    /// Gradients.
    Gradient = 5,
    /// What autograd keeps or makes on its way.
    AutogradDetail = 6,
    /// The profiler could not tell.
    Unknown = 7,
}

impl SeriesCategory {
    /// Every category by its number.
    pub const ALL: [Self; 8] = [
        Self::Parameter,
        Self::OptimizerState,
        Self::Input,
        Self::Temporary,
        Self::Activation,
        Self::Gradient,
        Self::AutogradDetail,
        Self::Unknown,
    ];

    /// The word that scripts see.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Parameter => "parameter",
            Self::OptimizerState => "optimizer_state",
            Self::Input => "input",
            Self::Temporary => "temporary",
            Self::Activation => "activation",
            Self::Gradient => "gradient",
            Self::AutogradDetail => "autograd_detail",
            Self::Unknown => "unknown",
        }
    }
}

/// Bytes of each category after each moment, in order of time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Series {
    /// Nanoseconds since the Unix epoch, rising; of moments with the same time the order counts.
    pub time_ns: Vec<u64>,
    /// Live bytes by [`SeriesCategory`], one column each, one row a moment.
    pub bytes: [Vec<u64>; 8],
}

impl Series {
    /// Number of moments.
    #[must_use]
    pub fn len(&self) -> usize {
        self.time_ns.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.time_ns.is_empty()
    }

    /// Appends a moment.
    pub fn push(&mut self, time_ns: u64, bytes: [u64; 8]) {
        self.time_ns.push(time_ns);
        for (column, value) in self.bytes.iter_mut().zip(bytes) {
            column.push(value);
        }
    }

    /// Bytes of each category after a moment; zeros when there is no such row.
    #[must_use]
    pub fn row(&self, moment: usize) -> [u64; 8] {
        std::array::from_fn(|c| {
            let column = self.bytes.get(c).and_then(|b| b.get(moment));
            column.copied().unwrap_or(0)
        })
    }
}
