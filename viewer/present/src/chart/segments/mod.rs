//! The picture of the allocator: every reserved range with its blocks.
//!
//! Bytes run from left to right and go on in the next row, as text does; every row stands for the
//! same number of bytes, so equal areas are equal memory. Ranges that are shorter than a row share
//! rows. The scale is that of the whole history, so that nothing jumps while time goes on.

mod layout;
mod marks;
mod picture;
mod strip;

pub use layout::{Arrange, Layout, Line, Order, Piece, What, fitting_row, layout};
pub use picture::{Frame, Outline, Picture};
