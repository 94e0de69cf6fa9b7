//! Puts lessee's answers into words and tables: two languages, one source for all faces.
//!
//! Start with [`Texts`] (a [`lessee_model::Msg`] becomes a sentence), then [`Report`] (what a command
//! has to say, independent of the format) and [`render`] (terminal, Markdown, CSV, JSON, HTML). Nothing
//! here reads or writes files, the environment or the terminal: width and colour are passed in.

pub mod accept;
pub mod chart;
mod clean;
pub mod documents;
mod figures;
mod fit;
mod lang;
mod locales;
mod page;
pub mod plan;
pub mod predict;
pub mod predict_table;
mod quantity;
mod render;
mod report;
pub mod simulate;
mod table;
mod texts;
pub mod trace;

pub use clean::clean;
pub use lang::Lang;
pub use locales::sources;
pub use render::{Format, render};
pub use report::{Block, Report, Style};
pub use table::{Align, Cell, Column, Head, Table, Tone};
pub use texts::Texts;
