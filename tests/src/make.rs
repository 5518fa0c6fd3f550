//! Reports of any size and shape.
