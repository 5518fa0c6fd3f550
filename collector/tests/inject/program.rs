//! The programs that are recorded: this test binary again, told what to do by `SCENARIO`.

#![allow(unsafe_code)]

use std::ffi::{CString, c_void};
use std::io::Write as _;

use simulated_driver::device::Kind;

/// The driver, as a program opens it.
struct Cuda(*mut c_void);

/// A library that asks the driver for memory.
struct Client(Ask, *mut c_void);

type Ask = unsafe extern "C" fn(simulated_driver::ask::Function, u64, u64, u64, u64, u64) -> u32;

fn open(name: &str) -> *mut c_void {
    let name = CString::new(name).unwrap();
    // SAFETY: the name ends with NUL.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
    assert!(!handle.is_null(), "{name:?} is beside the tests");
    handle
}

fn symbol(library: *mut c_void, name: &str) -> *mut c_void {
    let c = CString::new(name).unwrap();
    // SAFETY: the library is open and the name ends with NUL.
    let found = unsafe { libc::dlsym(library, c.as_ptr()) };
    assert!(!found.is_null(), "{name}");
    found
}

impl Cuda {
    fn init() -> Self {
        let cuda = Self(open("libcuda.so.1"));
        assert_eq!(cuda.call("cuInit", &[0]), 0);
        cuda
    }

    /// With a context on this thread.
    fn ready() -> Self {
        let cuda = Self::init();
        cuda.context();
        cuda
    }

    fn context(&self) -> u64 {
        let mut context = 0_u64;
        let rc = self.call("cuDevicePrimaryCtxRetain", &[address(&mut context), 0]);
        assert_eq!((rc, self.call("cuCtxSetCurrent", &[context])), (0, 0));
        context
    }

    fn function(&self, name: &str) -> simulated_driver::ask::Function {
        // SAFETY: functions of the driver take numbers and addresses only, here.
        unsafe { std::mem::transmute(symbol(self.0, name)) }
    }

    fn call(&self, name: &str, arguments: &[u64]) -> u32 {
        let a = |i: usize| arguments.get(i).copied().unwrap_or(0);
        // SAFETY: the caller gives what the function takes.
        unsafe { self.function(name)(a(0), a(1), a(2), a(3), a(4)) }
    }

    fn live(&self, kind: Kind) -> u64 {
        // SAFETY: its type.
        let count: extern "C" fn(u32) -> u64 =
            unsafe { std::mem::transmute(symbol(self.0, "simulated_live")) };
        count(kind as u32)
    }

    fn alloc(&self, size: u64) -> u64 {
        let mut ptr = 0_u64;
        assert_eq!(self.call("cuMemAlloc_v2", &[address(&mut ptr), size]), 0);
        ptr
    }
}

fn address(value: &mut u64) -> u64 {
    (&raw mut *value) as u64
}

impl Client {
    fn open(name: &str) -> Self {
        let library = open(name);
        // SAFETY: its type.
        let ask =
            unsafe { std::mem::transmute::<*mut c_void, Ask>(symbol(library, "simulated_ask")) };
        Self(ask, library)
    }

    fn ask(&self, cuda: &Cuda, name: &str, arguments: &[u64]) -> u32 {
        let a = |i: usize| arguments.get(i).copied().unwrap_or(0);
        // SAFETY: the caller gives what the function takes.
        unsafe { (self.0)(cuda.function(name), a(0), a(1), a(2), a(3), a(4)) }
    }
}

/// What a test holds the journal against: one line on stdout.
fn say(text: &str) {
    // The harness leaves its own line open.
    println!("\n{text}");
    std::io::stdout().flush().unwrap();
}

/// Not a test: what [`super::run`] starts this binary for.
#[test]
fn program() {
    let Ok(scenario) = std::env::var("SCENARIO") else {
        return;
    };
    match scenario.as_str() {
        "kinds" => kinds(),
        "fails" => fails(),
        "denied" => denied(),
        "forever" => forever(),
        "forks" => forks(),
        "threads" => threads(),
        "full" => full(),
        "contexts" => contexts(),
        "no-cuda" => {}
        other => unreachable!("{other}"),
    }
}

/// `CUmemAllocationProp` on device 0, then what is not read.
const PROP: [u32; 8] = [1, 1, 1, 0, 0, 0, 0, 0];

fn kinds() {
    let cuda = Cuda::ready();
    let torch = Client::open("libc10_cuda.so");
    let nccl = Client::open("libnccl.so.2");
    let cublas = Client::open("libcublas.so.13");
    let mut p = [0_u64; 20];
    let mut pitch = 0_u64;
    let at = |p: &mut [u64; 20], i: usize| address(&mut p[i]);
    let ok = |rc: u32| assert_eq!(rc, 0);
    ok(torch.ask(&cuda, "cuMemAlloc_v2", &[at(&mut p, 0), 20 << 20]));
    ok(torch.ask(&cuda, "cuMemAlloc_v2", &[at(&mut p, 1), 2 << 20]));
    let a = at(&mut p, 2);
    ok(cublas.ask(
        &cuda,
        "cuMemAllocPitch_v2",
        &[a, address(&mut pitch), 1000, 10, 4],
    ));
    ok(torch.ask(&cuda, "cuMemAllocManaged", &[at(&mut p, 3), 4096, 1]));
    ok(torch.ask(&cuda, "cuMemAllocHost_v2", &[at(&mut p, 4), 8192]));
    ok(torch.ask(&cuda, "cuMemHostAlloc", &[at(&mut p, 5), 12288, 1]));
    ok(torch.ask(&cuda, "cuMemHostRegister_v2", &[0x5000, 16384, 0]));
    // 64 x 32 of 2 channels of 16 bits; 8 x 8 x 8 of one float.
    let two: [u64; 3] = [64, 32, 2 << 32 | 0x10];
    ok(cublas.ask(
        &cuda,
        "cuArrayCreate_v2",
        &[at(&mut p, 6), two.as_ptr() as u64],
    ));
    let three: [u64; 5] = [8, 8, 8, 1 << 32 | 0x20, 0];
    ok(cublas.ask(
        &cuda,
        "cuArray3DCreate_v2",
        &[at(&mut p, 7), three.as_ptr() as u64],
    ));
    ok(cuda.call("cuMemAllocAsync", &[at(&mut p, 8), 1 << 20, 0]));
    ok(cuda.call("cuMemAllocAsync_ptsz", &[at(&mut p, 9), 3 << 20, 77]));
    let mut pool = 0_u64;
    let props = [1_u32, 1, 1, 0, 0, 0];
    ok(cuda.call(
        "cuMemPoolCreate",
        &[address(&mut pool), props.as_ptr() as u64],
    ));
    ok(cuda.call(
        "cuMemAllocFromPoolAsync",
        &[at(&mut p, 10), 5 << 20, pool, 0],
    ));
    ok(cuda.call(
        "cuMemAllocFromPoolAsync_ptsz",
        &[at(&mut p, 11), 512, pool, 7],
    ));
    ok(cuda.call("cuMemPoolTrimTo", &[pool, 0]));
    let prop = PROP.as_ptr() as u64;
    ok(nccl.ask(&cuda, "cuMemCreate", &[at(&mut p, 12), 32 << 20, prop, 0]));
    ok(nccl.ask(&cuda, "cuMemMap", &[0x9000_0000, 32 << 20, 0, p[12], 0]));
    ok(nccl.ask(&cuda, "cuMemRelease", &[p[12]]));
    ok(nccl.ask(&cuda, "cuMemCreate", &[at(&mut p, 13), 64 << 20, prop, 0]));
    ok(nccl.ask(&cuda, "cuMemMap", &[0xa000_0000, 64 << 20, 0, p[13], 0]));
    // NCCL's way to free: one more holder by address, both released, then unmapped.
    let mut again = 0_u64;
    ok(nccl.ask(
        &cuda,
        "cuMemRetainAllocationHandle",
        &[address(&mut again), 0xa000_0000],
    ));
    ok(nccl.ask(&cuda, "cuMemRelease", &[again]));
    ok(nccl.ask(&cuda, "cuMemRelease", &[p[13]]));
    ok(nccl.ask(&cuda, "cuMemUnmap", &[0xa000_0000, 64 << 20]));
    // SAFETY: its type.
    unsafe {
        let open: simulated_driver::ask::OpenIpc =
            std::mem::transmute(symbol(cuda.0, "cuIpcOpenMemHandle_v2"));
        type AskIpc = unsafe extern "C" fn(simulated_driver::ask::OpenIpc, *mut u64) -> u32;
        let ask: AskIpc = std::mem::transmute(symbol(nccl.1, "simulated_ask_ipc"));
        ok(ask(open, &raw mut p[14]));
    }
    ok(nccl.ask(
        &cuda,
        "cuMemImportFromShareableHandle",
        &[at(&mut p, 15), 3, 1],
    ));
    // Some of it goes.
    ok(torch.ask(&cuda, "cuMemFree_v2", &[p[1]]));
    ok(cuda.call("cuMemFree_v2", &[0]));
    ok(torch.ask(&cuda, "cuMemFreeHost", &[p[4]]));
    ok(cuda.call("cuMemHostUnregister", &[0x5000]));
    ok(cuda.call("cuArrayDestroy", &[p[7]]));
    ok(cuda.call("cuMemFreeAsync", &[p[8], 0]));
    ok(cuda.call("cuMemFreeAsync_ptsz", &[p[11], 7]));
    ok(cuda.call("cuMemPoolDestroy", &[pool]));
    ok(cuda.call("cuIpcCloseMemHandle", &[p[14]]));
    assert_ne!(cuda.call("cuMemFree_v2", &[0xdead]), 0);
    use Kind::{Array, Device, Managed, Pinned, Pool, Vmm};
    for (name, kind) in [
        ("device", Device),
        ("pool", Pool),
        ("pinned", Pinned),
        ("managed", Managed),
        ("array", Array),
        ("vmm", Vmm),
    ] {
        say(&format!("live {name} {}", cuda.live(kind)));
    }
}

fn fails() {
    let cuda = Cuda::ready();
    let torch = Client::open("libc10_cuda.so");
    cuda.alloc(10 << 20);
    let mut ptr = 0_u64;
    assert_eq!(
        torch.ask(&cuda, "cuMemAlloc_v2", &[address(&mut ptr), 1 << 40]),
        2
    );
    let create = [address(&mut ptr), 1 << 41, PROP.as_ptr() as u64, 0];
    assert_eq!(torch.ask(&cuda, "cuMemCreate", &create), 2);
    assert_eq!(cuda.call("cuMemAlloc_v2", &[address(&mut ptr), 0]), 1);
}

fn denied() {
    let cuda = Cuda::ready();
    cuda.alloc(100 << 20);
    std::thread::sleep(std::time::Duration::from_millis(1300));
}

/// Says the number of each allocation once it is done, until it is killed.
fn forever() {
    let cuda = Cuda::ready();
    let mut out = std::io::stdout().lock();
    for n in 1_u64.. {
        let ptr = cuda.alloc(n);
        out.write_all(format!("\nat {n}.").as_bytes()).unwrap();
        out.flush().unwrap();
        assert_eq!(cuda.call("cuMemFree_v2", &[ptr]), 0);
    }
}

fn forks() {
    // A data loader's child before CUDA.
    let wait = |child: i32| {
        let mut status = 0;
        // SAFETY: our child, and room for its status.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0);
    };
    // SAFETY: the children only call the simulated driver and leave.
    unsafe {
        let before = libc::fork();
        if before == 0 {
            libc::_exit(0);
        }
        wait(before);
        let cuda = Cuda::ready();
        cuda.alloc(1 << 20);
        // A child that comes after it, and (wrongly) goes on with CUDA.
        let after = libc::fork();
        if after == 0 {
            cuda.alloc(7 << 20);
            libc::exit(0);
        }
        wait(after);
        cuda.alloc(2 << 20);
    }
}

fn threads() {
    let cuda = Cuda::ready();
    let each = |number: u64| {
        cuda.context();
        let mut held = std::collections::VecDeque::new();
        for n in 0..10_000_u64 {
            held.push_back(cuda.alloc(1 + (n * 31 + number * 7) % 64));
            if held.len() > 10 {
                let ptr = held.pop_front().unwrap();
                assert_eq!(cuda.call("cuMemFree_v2", &[ptr]), 0);
            }
        }
    };
    // The handles of libraries may go from thread to thread.
    struct Shared<F>(F);
    // SAFETY: the simulated driver locks itself.
    unsafe impl<F> Sync for Shared<F> {}
    let shared = Shared(each);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let shared = &shared;
            scope.spawn(move || {
                let Shared(each) = shared;
                each(number);
            });
        }
    });
    say(&format!("live device {}", cuda.live(Kind::Device)));
}

fn full() {
    // SAFETY: the signal is ignored and the limit lowered in this process only.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let limit = libc::rlimit {
            rlim_cur: 20_000,
            rlim_max: 20_000,
        };
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit), 0);
    }
    let cuda = Cuda::ready();
    for _ in 0..1000 {
        let ptr = cuda.alloc(512);
        assert_eq!(cuda.call("cuMemFree_v2", &[ptr]), 0);
    }
}

fn contexts() {
    let cuda = Cuda::ready();
    cuda.alloc(3 << 20);
    assert_eq!(cuda.call("cuDevicePrimaryCtxReset_v2", &[0]), 0);
    let mut other = 0_u64;
    assert_eq!(cuda.call("cuCtxCreate_v2", &[address(&mut other), 0, 0]), 0);
    cuda.alloc(5 << 20);
    say(&format!("live device {}", cuda.live(Kind::Device)));
}
