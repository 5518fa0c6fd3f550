//! A CUDA driver with one device that has memory to count and nothing to compute: what the tests of
//! `memscope record` run against where there is no GPU.
//!
//! One shared library under the names `libcuda.so.1`, `libcupti.so.13` and `libnvidia-ml.so.1`. It
//! calls what `CUDA_INJECTION64_PATH` names, as the driver does, and tells the subscriber of CUPTI's
//! callbacks of every call. The structs with parameters are made of the functions' own signatures, as
//! in `generated_cuda_meta.h`.
//!
//! | variable | what |
//! |---|---|
//! | `SIMULATED_TOTAL` | bytes of the device (1 GiB) |
//! | `SIMULATED_CONTEXT` | bytes that a context takes (0) |
//! | `SIMULATED_HOLDER` | who holds CUPTI: subscribing fails with 39 |
//! | `SIMULATED_CONTAINER` | NVML does not know this process |

#![allow(non_snake_case)]

pub mod ask;
pub mod cuda;
pub mod cupti;
pub mod device;
pub mod nvml;
