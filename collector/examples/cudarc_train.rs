//! Trains a small network with cudarc and records it: two layers, plain SGD, kernels compiled at run
//! time by NVRTC.
//!
//! `cargo run --release -p collector --features cuda-example --example cudarc_train`
//! On a machine without a GPU it says so and exits with 2. `memscope render memscope_outputs` shows
//! what was recorded.

#![allow(unsafe_code)] // launching a kernel is a promise about its arguments

use std::process::ExitCode;
use std::sync::Arc;

use cudarc::driver::{
    CudaContext, CudaFunction, CudaSlice, CudaStream, LaunchConfig, PushKernelArg,
};
use memscope::Recorder;
use memscope::device::CudaProbe;

const KERNELS: &str = r#"
// out[m, n] = a[m, k] * b[k, n], each transposed where its flag says so; with relu where asked for.
extern "C" __global__ void matmul(float *out, const float *a, const float *b, int m, int n, int k,
                                  int ta, int tb, int relu) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m * n) return;
    int row = i / n, column = i % n;
    float sum = 0.0f;
    for (int j = 0; j < k; j++)
        sum += (ta ? a[j * m + row] : a[row * k + j]) * (tb ? b[column * k + j] : b[j * n + column]);
    out[i] = relu && sum < 0.0f ? 0.0f : sum;
}
extern "C" __global__ void difference(float *out, const float *a, const float *b, float scale, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (a[i] - b[i]) * scale;
}
extern "C" __global__ void relu_backward(float *gradient, const float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && out[i] <= 0.0f) gradient[i] = 0.0f;
}
extern "C" __global__ void sgd(float *weight, const float *gradient, float rate, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) weight[i] -= rate * gradient[i];
}
"#;

const BATCH: usize = 512;
const INPUTS: usize = 256;
const HIDDEN: usize = 1024;
const OUTPUTS: usize = 16;
const STEPS: usize = 20;

type Failure = Box<dyn std::error::Error>;

struct Device {
    stream: Arc<CudaStream>,
    matmul: CudaFunction,
    difference: CudaFunction,
    relu_backward: CudaFunction,
    sgd: CudaFunction,
}

impl Device {
    fn new(context: &Arc<CudaContext>) -> Result<Self, Failure> {
        let module = context.load_module(cudarc::nvrtc::compile_ptx(KERNELS)?)?;
        Ok(Self {
            stream: context.default_stream(),
            matmul: module.load_function("matmul")?,
            difference: module.load_function("difference")?,
            relu_backward: module.load_function("relu_backward")?,
            sgd: module.load_function("sgd")?,
        })
    }

    /// `a * b` of shape `[m, n]`, summed over `k`.
    fn product(
        &self,
        (a, ta): (&CudaSlice<f32>, bool),
        (b, tb): (&CudaSlice<f32>, bool),
        [m, n, k]: [usize; 3],
        relu: bool,
    ) -> Result<CudaSlice<f32>, Failure> {
        let mut out = self.stream.alloc_zeros::<f32>(m * n)?;
        let size = [m as i32, n as i32, k as i32];
        let flags = [i32::from(ta), i32::from(tb), i32::from(relu)];
        let mut launch = self.stream.launch_builder(&self.matmul);
        launch.arg(&mut out).arg(a).arg(b);
        size.iter().chain(&flags).for_each(|v| {
            launch.arg(v);
        });
        // SAFETY: the kernel writes m * n numbers of `out` and reads m * k and k * n of the others,
        // which is what they hold.
        unsafe { launch.launch(LaunchConfig::for_num_elems((m * n) as u32)) }?;
        Ok(out)
    }

    fn update(
        &self,
        weight: &mut CudaSlice<f32>,
        gradient: &CudaSlice<f32>,
    ) -> Result<(), Failure> {
        let (rate, n) = (0.05_f32, gradient.len() as i32);
        let mut launch = self.stream.launch_builder(&self.sgd);
        launch.arg(weight).arg(gradient).arg(&rate).arg(&n);
        // SAFETY: both hold n numbers.
        unsafe { launch.launch(LaunchConfig::for_num_elems(n as u32)) }?;
        Ok(())
    }
}

/// Numbers between -scale and scale, the same every time.
fn numbers(count: usize, seed: u64, scale: f32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0) * scale
    };
    (0..count).map(|_| next()).collect()
}

fn train(recorder: &Recorder, context: &Arc<CudaContext>) -> Result<(f32, f32), Failure> {
    let device = Device::new(context)?;
    let stream = &device.stream;
    let inputs = stream.clone_htod(&numbers(BATCH * INPUTS, 1, 1.0))?;
    let wanted = stream.clone_htod(&numbers(BATCH * OUTPUTS, 2, 1.0))?;
    let mut first = stream.clone_htod(&numbers(INPUTS * HIDDEN, 3, 0.08))?;
    let mut second = stream.clone_htod(&numbers(HIDDEN * OUTPUTS, 4, 0.05))?;
    let mut losses = Vec::new();
    for _ in 0..STEPS {
        let _step = recorder.step();
        let (hidden, out) = {
            let _forward = recorder.phase("forward");
            let hidden = {
                let _module = recorder.module("first");
                device.product(
                    (&inputs, false),
                    (&first, false),
                    [BATCH, HIDDEN, INPUTS],
                    true,
                )?
            };
            let _module = recorder.module("second");
            let out = device.product(
                (&hidden, false),
                (&second, false),
                [BATCH, OUTPUTS, HIDDEN],
                false,
            )?;
            (hidden, out)
        };
        let backward = recorder.phase("backward");
        let mut error = stream.alloc_zeros::<f32>(BATCH * OUTPUTS)?;
        let (scale, n) = (2.0 / BATCH as f32, (BATCH * OUTPUTS) as i32);
        let mut launch = stream.launch_builder(&device.difference);
        launch
            .arg(&mut error)
            .arg(&out)
            .arg(&wanted)
            .arg(&scale)
            .arg(&n);
        // SAFETY: all three hold n numbers.
        unsafe { launch.launch(LaunchConfig::for_num_elems(n as u32)) }?;
        let second_gradient = device.product(
            (&hidden, true),
            (&error, false),
            [HIDDEN, OUTPUTS, BATCH],
            false,
        )?;
        let mut through = device.product(
            (&error, false),
            (&second, true),
            [BATCH, HIDDEN, OUTPUTS],
            false,
        )?;
        let n = (BATCH * HIDDEN) as i32;
        let mut launch = stream.launch_builder(&device.relu_backward);
        launch.arg(&mut through).arg(&hidden).arg(&n);
        // SAFETY: both hold n numbers.
        unsafe { launch.launch(LaunchConfig::for_num_elems(n as u32)) }?;
        let first_gradient = device.product(
            (&inputs, true),
            (&through, false),
            [INPUTS, HIDDEN, BATCH],
            false,
        )?;
        drop(backward);
        let _optimizer = recorder.phase("optimizer");
        device.update(&mut first, &first_gradient)?;
        device.update(&mut second, &second_gradient)?;
        let scale = 0.5 * BATCH as f32;
        let errors = stream.clone_dtoh(&error)?;
        losses.push(errors.iter().map(|e| (e * scale).powi(2)).sum::<f32>() / errors.len() as f32);
    }
    match (losses.first(), losses.last()) {
        (Some(first), Some(last)) => Ok((*first, *last)),
        _ => Err("no steps were made".into()),
    }
}

fn run() -> Result<bool, Failure> {
    let probe = match CudaProbe::new(0) {
        Ok(probe) => probe,
        Err(error) => {
            eprintln!("cudarc_train: {error}");
            return Ok(false);
        }
    };
    let context = CudaContext::new(0)?;
    let recorder = Recorder::builder()
        .probe(probe)
        .metadata("optimizer", "sgd")
        .metadata("dtype", "float32")
        .start()?;
    let (before, after) = train(&recorder, &context)?;
    println!("loss {before:.4} -> {after:.4} in {STEPS} steps");
    recorder.finish();
    if let Some(path) = recorder.journal_path() {
        println!("recorded: {}", path.display());
    }
    if after >= before {
        return Err("the loss did not fall".into());
    }
    Ok(true)
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(2),
        Err(error) => {
            eprintln!("cudarc_train: {error}");
            ExitCode::FAILURE
        }
    }
}
