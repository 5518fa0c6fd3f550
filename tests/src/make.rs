//! Reports of any size and shape.

use std::io::Write;

use serde_json::{Value, json};

/// One event as the recorder writes it: `allocated` after it, the same reserved.
#[must_use]
pub fn event(module: &str, phase: &str, step: i64, allocated: u64) -> Value {
    json!({
        "event_type": "module", "module": module, "phase": phase, "step": step,
        "mem_allocated_before": allocated, "mem_allocated_after": allocated,
        "mem_reserved_before": allocated, "mem_reserved_after": allocated,
        "max_mem_allocated": allocated, "max_mem_reserved": allocated,
        "delta_allocated": 0, "delta_reserved": 0,
        "inputs": [], "outputs": [], "grads": [], "notes": format!("{module} {phase}"),
    })
}

/// Numbers that look random and are the same every time (xorshift64*).
#[derive(Debug)]
struct Noise(u64);

impl Noise {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % n
    }
}

/// Writes a long run as the recorder's `json.dump(..., indent=2)` does, event by event.
#[derive(Debug)]
pub struct Long<W: Write> {
    out: W,
    left: u64,
    first: bool,
    noise: Noise,
    step: i64,
    allocated: u64,
    reserved: u64,
    most: u64,
}

/// Parts of a layer in the order of their calls, with the output's columns and whether they have a
/// weight.
const PARTS: [(&str, u64, bool); 10] = [
    ("input_layernorm", 2048, true),
    ("self_attn.q_proj", 2048, true),
    ("self_attn.k_proj", 512, true),
    ("self_attn.v_proj", 512, true),
    ("self_attn.o_proj", 2048, true),
    ("post_attention_layernorm", 2048, true),
    ("mlp.gate_proj", 5632, true),
    ("mlp.up_proj", 5632, true),
    ("mlp.act_fn", 5632, false),
    ("mlp.down_proj", 2048, true),
];
const LAYERS: u64 = 32;

impl<W: Write> Long<W> {
    /// Writes `events` events of a Llama-like model's training.
    ///
    /// # Errors
    /// What the writer reports.
    pub fn write(out: W, events: u64) -> std::io::Result<()> {
        let mut run = Self {
            out,
            left: events,
            first: true,
            noise: Noise(0x5EED_2026),
            step: 0,
            allocated: 6 << 30,
            reserved: 7 << 30,
            most: 0,
        };
        run.out.write_all(b"{\n  \"runtime_trace\": [")?;
        while run.left > 0 {
            run.step()?;
        }
        run.out.write_all(
            b"\n  ],\n  \"peak\": {},\n  \"top_events\": [],\n  \"metadata\": {\n    \"mode\": \"runtime\",\n    \
              \"rank\": \"0\",\n    \"world_size\": \"1\",\n    \"device\": \"cuda:0\",\n    \"device_name\": \"NVIDIA H200\",\n    \
              \"dtype\": \"bf16\",\n    \"optimizer\": \"adam\"\n  },\n  \"comparisons\": {\n    \
              \"static_peak_memory_bytes\": 53002368000.0\n  }\n}\n",
        )?;
        run.out.flush()
    }

    fn step(&mut self) -> std::io::Result<()> {
        let floor = self.allocated;
        self.boundary("step_start")?;
        let mut calls = Vec::new();
        self.call("model.embed_tokens", 2048, &mut calls)?;
        for layer in 0..LAYERS {
            let name = format!("model.layers.{layer}");
            self.event("module", &name, "forward_pre", 0, &[("inputs", 2048)])?;
            for (part, columns, _) in PARTS {
                self.call(&format!("{name}.{part}"), columns, &mut calls)?;
            }
            self.event(
                "module",
                &name,
                "forward",
                0,
                &[("inputs", 2048), ("outputs", 2048)],
            )?;
        }
        self.call("lm_head", 32000, &mut calls)?;
        for (module, columns, bytes) in calls.into_iter().rev() {
            let freed = -i64::try_from(bytes).unwrap_or(0);
            self.event(
                "tensor_grad",
                &format!("{module}.output[0]"),
                "backward",
                freed,
                &[("grads", columns)],
            )?;
            if !module.ends_with("act_fn") {
                let kept = self.wobble(8);
                self.event(
                    "tensor_grad",
                    &format!("param::{module}.weight"),
                    "backward",
                    kept,
                    &[("grads", columns)],
                )?;
            }
        }
        for phase in [
            "forward_backward_end",
            "optimizer_step_start",
            "optimizer_step_end",
        ] {
            self.boundary(phase)?;
        }
        self.allocated = floor + if self.step == 0 { 2 << 30 } else { 0 };
        self.boundary("step_end")?;
        self.step += 1;
        Ok(())
    }

    /// Some blocks of 512 bytes, up or down.
    fn wobble(&mut self, blocks: u64) -> i64 {
        512 * (self.noise.below(2 * blocks) as i64 - blocks as i64)
    }

    fn call(
        &mut self,
        module: &str,
        columns: u64,
        calls: &mut Vec<(String, u64, u64)>,
    ) -> std::io::Result<()> {
        self.event("module", module, "forward_pre", 0, &[("inputs", 2048)])?;
        let bytes = columns * 4096 + 512 * self.noise.below(4096);
        self.event(
            "module",
            module,
            "forward",
            bytes as i64,
            &[("inputs", 2048), ("outputs", columns)],
        )?;
        calls.push((module.to_owned(), columns, bytes));
        Ok(())
    }

    fn boundary(&mut self, phase: &str) -> std::io::Result<()> {
        self.event("step", "train_step", phase, 0, &[])
    }

    fn event(
        &mut self,
        kind: &str,
        module: &str,
        phase: &str,
        delta: i64,
        tensors: &[(&str, u64)],
    ) -> std::io::Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        self.left -= 1;
        // What the program itself allocates between two events, now and then.
        let between = if self.noise.below(4) == 0 {
            512 * self.noise.below(64)
        } else {
            0
        };
        let before = self.allocated + between;
        let after = before.saturating_add_signed(delta);
        let reserved_before = self.reserved;
        // The allocator takes segments of 20 MiB, and its mark includes what lives between events.
        self.most = self.most.max(after + 512 * self.noise.below(256));
        self.reserved = self.reserved.max(self.most.div_ceil(20 << 20) * (20 << 20));
        self.allocated = after;
        let (step, most, reserved) = (self.step, self.most, self.reserved);
        let comma = if std::mem::replace(&mut self.first, false) {
            ""
        } else {
            ","
        };
        write!(
            self.out,
            "{comma}\n    {{\n      \"event_type\": \"{kind}\",\n      \"module\": \"{module}\",\n      \"phase\": \"{phase}\",\n      \
             \"step\": {step},\n      \"mem_allocated_before\": {before},\n      \"mem_allocated_after\": {after},\n      \
             \"mem_reserved_before\": {reserved_before},\n      \"mem_reserved_after\": {reserved},\n      \
             \"max_mem_allocated\": {most},\n      \"max_mem_reserved\": {reserved},\n      \"delta_allocated\": {delta},\n      \
             \"delta_reserved\": {},\n",
            reserved - reserved_before
        )?;
        for role in ["inputs", "outputs", "grads"] {
            match tensors.iter().find(|t| t.0 == role) {
                None => writeln!(self.out, "      \"{role}\": [],")?,
                Some((_, columns)) => write!(
                    self.out,
                    "      \"{role}\": [\n        {{\n          \"name\": \"{role}[0]\",\n          \"shape\": [\n            2,\n            \
                     1024,\n            {columns}\n          ],\n          \"dtype\": \"torch.bfloat16\",\n          \"device\": \"cuda:0\",\n          \
                     \"requires_grad\": true,\n          \"bytes\": {}\n        }}\n      ],\n",
                    columns * 4096
                )?,
            }
        }
        write!(self.out, "      \"notes\": \"{module} {phase}\"\n    }}")
    }
}

/// The same events as the simplest page of other tools holds them: a JSON array of few fields.
///
/// # Errors
/// What the writer reports.
pub fn naive(mut out: impl Write, events: u64) -> std::io::Result<()> {
    let mut noise = Noise(0x5EED_2026);
    let mut allocated: i64 = 6 << 30;
    write!(out, "[")?;
    for i in 0..events {
        let (comma, step) = (if i == 0 { "" } else { "," }, i / 1400);
        let (layer, (part, columns, _)) = (i / 10 % LAYERS, PARTS[(i % 10) as usize]);
        let forward = i % 1400 < 700;
        let bytes = (columns * 4096 + 512 * noise.below(4096)) as i64;
        allocated = (allocated + if forward { bytes } else { -bytes }).max(6 << 30);
        let phase = if forward { "forward" } else { "backward" };
        write!(
            out,
            "{comma}{{\"module\":\"model.layers.{layer}.{part}\",\"phase\":\"{phase}\",\"step\":{step},\
             \"allocated\":{allocated},\"reserved\":{},\"delta\":{bytes}}}",
            allocated + (1 << 30)
        )?;
    }
    write!(out, "]")
}
