//! Trains a small network with candle and records it.
//!
//! `cargo run --release --features cuda` in this folder (needs nvcc); without the feature it trains on
//! the CPU, and the recorded figures are absent.

use anyhow::{Result, ensure};
use candle_core::{DType, Device, Tensor};
use candle_nn::{Linear, Module, Optimizer, SGD, VarBuilder, VarMap, linear, loss};
use memscope::Recorder;

const BATCH: usize = 256;
const STEPS: usize = 20;

struct Net {
    first: Linear,
    second: Linear,
}

impl Net {
    fn new(vars: VarBuilder<'_>) -> Result<Self> {
        Ok(Self {
            first: linear(128, 1024, vars.pp("first"))?,
            second: linear(1024, 16, vars.pp("second"))?,
        })
    }

    fn forward(&self, recorder: &Recorder, inputs: &Tensor) -> Result<Tensor> {
        let hidden = {
            let _module = recorder.module("first");
            self.first.forward(inputs)?.relu()?
        };
        let _module = recorder.module("second");
        Ok(self.second.forward(&hidden)?)
    }
}

#[cfg(feature = "cuda")]
fn start() -> Result<(Device, Recorder)> {
    let device = Device::new_cuda(0)?;
    // candle's allocations come from the device's pool through cudarc: the probe reads that pool.
    let probe = memscope::device::CudaProbe::of(device.as_cuda_device()?.cuda_stream().context());
    let recorder = Recorder::builder().probe(probe).metadata("framework", "candle").start()?;
    Ok((device, recorder))
}

#[cfg(not(feature = "cuda"))]
fn start() -> Result<(Device, Recorder)> {
    Ok((Device::Cpu, Recorder::builder().metadata("framework", "candle").start()?))
}

fn main() -> Result<()> {
    let (device, recorder) = start()?;
    let vars = VarMap::new();
    let net = Net::new(VarBuilder::from_varmap(&vars, DType::F32, &device))?;
    let mut optimizer = SGD::new(vars.all_vars(), 0.005)?;
    let inputs = Tensor::randn(0f32, 1., (BATCH, 128), &device)?;
    let wanted = Tensor::randn(0f32, 1., (BATCH, 16), &device)?;
    let mut losses = Vec::new();
    for _ in 0..STEPS {
        let _step = recorder.step();
        let forward = recorder.phase("forward");
        let loss = loss::mse(&net.forward(&recorder, &inputs)?, &wanted)?;
        drop(forward);
        let backward = recorder.phase("backward");
        let gradients = loss.backward()?;
        drop(backward);
        let _optimizer = recorder.phase("optimizer");
        optimizer.step(&gradients)?;
        losses.push(loss.to_scalar::<f32>()?);
    }
    recorder.finish();
    if let Some(path) = recorder.journal_path() {
        println!("recorded: {}", path.display());
    }
    println!("loss {:?} -> {:?} in {STEPS} steps", losses.first(), losses.last());
    ensure!(losses.last() < losses.first(), "the loss did not fall");
    Ok(())
}
