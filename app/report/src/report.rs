//! What a command has to say, before a format is chosen: blocks for people and the data for machines.

use crate::Table;
use crate::chart::Chart;

/// One answer. Texts are already in the reader's language; the data is the public contract.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Title of the HTML page.
    pub title: String,
    pub blocks: Vec<Block>,
    /// The JSON document.
    pub data: serde_json::Value,
    /// Name of the list in `data` whose members are the lines of JSONL.
    pub items: &'static str,
    /// The CSV, where it is not the main table.
    pub csv: Option<String>,
}

#[derive(Clone, Debug)]
pub enum Block {
    Heading(String),
    /// One paragraph; wrapped to the width.
    Text(String),
    /// Lines that belong together, each with its own bullet.
    List(Vec<String>),
    Table(Table),
    /// As it is: no wrapping.
    Verbatim(String),
    /// A picture: in HTML and SVG only, so the same must stand in words or a table beside it.
    Chart(Chart),
    /// As it is, where no picture can be: left out of HTML.
    Terminal(String),
}

impl Report {
    pub fn new(title: impl Into<String>, data: serde_json::Value, items: &'static str) -> Report {
        Report {
            title: title.into(),
            blocks: Vec::new(),
            data,
            items,
            csv: None,
        }
    }

    /// Answers `-o csv` with this text.
    pub fn with_csv(mut self, csv: String) -> Report {
        self.csv = Some(csv);
        self
    }

    pub fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    pub fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    /// Nothing is added for an empty list.
    pub fn list(&mut self, lines: Vec<String>) {
        if !lines.is_empty() {
            self.blocks.push(Block::List(lines));
        }
    }

    pub fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    pub fn terminal(&mut self, text: String) {
        self.blocks.push(Block::Terminal(text));
    }

    pub fn chart(&mut self, chart: Chart) {
        self.blocks.push(Block::Chart(chart));
    }

    /// The pictures in it.
    pub fn charts(&self) -> Vec<&Chart> {
        self.blocks
            .iter()
            .filter_map(|b| match b {
                Block::Chart(chart) => Some(chart),
                _ => None,
            })
            .collect()
    }

    /// The main table: what CSV prints, `--columns` selects and `--sort` orders.
    pub fn main_table(&mut self) -> Option<&mut Table> {
        self.blocks.iter_mut().find_map(|b| match b {
            Block::Table(table) => Some(table),
            _ => None,
        })
    }
}

/// What the place of output can show.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// In columns of a terminal.
    pub width: usize,
    pub colour: bool,
}

impl Style {
    pub const PLAIN_80: Style = Style {
        width: 80,
        colour: false,
    };
}
