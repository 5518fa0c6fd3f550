//! Colours. The only place of the drawings that names any; `viewer/assets/style.css` has the same
//! values for what is not drawn.

use plotters::style::RGBColor;
#[cfg(feature = "snapshot")]
use report::analyze::snapshot::categories::Category;

/// A colour of a drawing.
pub type Color = RGBColor;

/// Colours of a drawing. Data colours are Okabe and Ito's, which colour-blind people can tell
/// apart; on dark ground they are lighter tones of the same hues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// Whether the ground is dark.
    pub dark: bool,
    /// Ground.
    pub ground: Color,
    /// Text.
    pub ink: Color,
    /// Secondary text and axes.
    pub muted: Color,
    /// Lines of the grid.
    pub grid: Color,
    /// Every second step.
    pub band: Color,
    /// Allocated.
    pub allocated: Color,
    /// Where allocated goes up and down within a pixel.
    pub allocated_range: Color,
    /// Reserved.
    pub reserved: Color,
    /// The high-water mark and the peak.
    pub high_water: Color,
    /// Growth.
    pub growth: Color,
}

impl Theme {
    /// On light ground.
    pub const LIGHT: Self = Self {
        dark: false,
        ground: RGBColor(255, 255, 255),
        ink: RGBColor(27, 31, 36),
        muted: RGBColor(89, 96, 105),
        grid: RGBColor(224, 227, 231),
        band: RGBColor(245, 246, 248),
        allocated: RGBColor(0, 114, 178),
        allocated_range: RGBColor(140, 190, 222),
        reserved: RGBColor(205, 211, 218),
        high_water: RGBColor(213, 94, 0),
        growth: RGBColor(0, 128, 96),
    };

    /// On dark ground.
    pub const DARK: Self = Self {
        dark: true,
        ground: RGBColor(22, 24, 28),
        ink: RGBColor(228, 231, 235),
        muted: RGBColor(154, 163, 173),
        grid: RGBColor(50, 55, 62),
        band: RGBColor(28, 31, 36),
        allocated: RGBColor(66, 158, 214),
        allocated_range: RGBColor(42, 92, 124),
        reserved: RGBColor(68, 75, 84),
        high_water: RGBColor(255, 138, 66),
        growth: RGBColor(46, 190, 146),
    };

    /// The theme for a ground.
    #[must_use]
    pub fn of(dark: bool) -> Self {
        if dark { Self::DARK } else { Self::LIGHT }
    }
}

/// Okabe and Ito's palette in an order that keeps neighbours apart, without the blue and the
/// vermilion that mean allocated and high-water mark; violet and brown make up the number.
const CATEGORIES: [[Color; 2]; 8] = [
    [RGBColor(110, 118, 128), RGBColor(154, 163, 173)],
    [RGBColor(86, 180, 233), RGBColor(140, 205, 245)],
    [RGBColor(0, 158, 115), RGBColor(46, 190, 146)],
    [RGBColor(230, 159, 0), RGBColor(240, 180, 60)],
    [RGBColor(204, 121, 167), RGBColor(222, 150, 190)],
    [RGBColor(178, 166, 32), RGBColor(240, 228, 66)],
    [RGBColor(120, 94, 170), RGBColor(172, 150, 220)],
    [RGBColor(150, 90, 60), RGBColor(200, 145, 115)],
];

/// The colour of the `n`-th phase or part, the same in every view.
#[must_use]
pub fn phase_color(n: usize, dark: bool) -> Color {
    CATEGORIES[n % CATEGORIES.len()][usize::from(dark)]
}

/// The colour of what memory is for, the same in every view; unknown is grey.
#[cfg(feature = "snapshot")]
#[must_use]
pub fn category_color(category: Category, dark: bool) -> Color {
    let n = match category {
        Category::Unknown => 0,
        Category::Parameter => 1,
        Category::Gradient => 2,
        Category::OptimizerState => 3,
        Category::Activation => 4,
        Category::Temporary => 5,
        Category::Input => 6,
    };
    phase_color(n, dark)
}

/// A colour mixed with another: `share` of `a`, the rest of `b`.
#[must_use]
pub fn mixed(a: Color, b: Color, share: f64) -> Color {
    let mix = |a: u8, b: u8| {
        (f64::from(a) * share + f64::from(b) * (1.0 - share))
            .round()
            .clamp(0.0, 255.0) as u8
    };
    RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// A colour for style sheets: `#0072b2`.
#[must_use]
pub fn css(RGBColor(r, g, b): Color) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}
