//! What the `module` of an event is about.
//!
//! The public MemScope writes `a.b` for a module call, `a.b.output[0]` for the gradient of an
//! output of `a.b`, and `param::a.b.weight` for the gradient of a parameter of `a.b`.

/// What an event's `module` names, beside the module itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part<'a> {
    /// The module.
    Module,
    /// One of its outputs or inputs: `output[0]`.
    Slot(&'a str),
    /// One of its parameters: `weight`.
    Parameter(&'a str),
}

/// Splits an event's `module` into the dotted path of the module and the part of it.
///
/// ```
/// use report::analyze::path::{Part, split};
/// assert_eq!(split("param::h.0.attn.weight"), ("h.0.attn", Part::Parameter("weight")));
/// assert_eq!(split("h.0.output[0]"), ("h.0", Part::Slot("output[0]")));
/// assert_eq!(split("lm_head"), ("lm_head", Part::Module));
/// ```
#[must_use]
pub fn split(module: &str) -> (&str, Part<'_>) {
    if let Some(parameter) = module.strip_prefix("param::") {
        return match parameter.rsplit_once('.') {
            Some((path, name)) => (path, Part::Parameter(name)),
            None => ("", Part::Parameter(parameter)),
        };
    }
    if let Some((path, slot)) = module.rsplit_once('.') {
        let is_slot =
            slot.ends_with(']') && (slot.starts_with("output[") || slot.starts_with("input["));
        if is_slot {
            return (path, Part::Slot(slot));
        }
    }
    (module, Part::Module)
}
