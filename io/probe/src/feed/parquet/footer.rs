//! What a Parquet file says of itself at its end: the columns of bytes, and where the chunks of the one that is read lie.
//! <https://parquet.apache.org/docs/file-format/metadata/>
//!
//! Nothing here is believed before it is read: rows, sizes and places are claims, and each is held against the file when
//! pages are read (`page.rs`). Not here: which of the columns is read (`mod.rs`).

use super::thrift::{Broken, Kind, Reader};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Footers of tables with thousands of columns have some MB.
const FOOTER_MAX: u64 = 32 << 20;
/// Tables of more columns are no sets of samples.
const COLUMNS_MAX: usize = 10_000;
/// Chunks of all columns of bytes in all groups: what is kept of a footer is bounded by it.
const CHUNKS_MAX: usize = 500_000;

/// A column whose values are bytes, once a row at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// `image.bytes`
    pub(super) name: String,
    /// Its place among all columns.
    pub(super) at: usize,
    /// Levels of definition: how many of its ancestors and itself may be missing.
    pub(super) optional: u32,
}

/// The chunk of a column in a group of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) first_row: u64,
    pub(super) rows: u64,
    /// Where its first page begins, and the bytes of all its pages.
    pub(super) offset: u64,
    pub(super) len: u64,
    /// As if it were not compressed.
    pub(super) plain_len: u64,
    pub(super) codec: i64,
}

#[derive(Debug, Default)]
pub(super) struct Footer {
    pub(super) columns: Vec<Column>,
    /// With the place of its column in `columns`, in the order of the file.
    pub(super) chunks: Vec<(usize, Chunk)>,
}

/// Reads the footer.
///
/// # Errors
/// It is none, or not one that is read here.
pub(super) fn read(file: &File) -> Result<Footer, String> {
    let io = |e: std::io::Error| e.to_string();
    let end = file.metadata().map_err(io)?.len();
    let mut tail = [0; 8];
    if end < 12 {
        return Err("too short for a Parquet file".to_owned());
    }
    file.read_exact_at(&mut tail, end - 8).map_err(io)?;
    match &tail[4..] {
        b"PAR1" => {}
        b"PARE" => return Err("its footer is encrypted".to_owned()),
        _ => return Err("no Parquet file, or cut off: it does not end in PAR1".to_owned()),
    }
    let len = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    if len > end - 12 || len > FOOTER_MAX {
        return Err(format!("a footer of {len} bytes in a file of {end}"));
    }
    let mut bytes = vec![0; len as usize];
    file.read_exact_at(&mut bytes, end - 8 - len).map_err(io)?;
    parse(&bytes, end).map_err(|broken| match broken {
        Broken::Short => "its footer is cut off".to_owned(),
        Broken::Wrong(what) => format!("its footer has {what}"),
    })
}

/// A node of the schema, which is written as a tree from top to bottom.
#[derive(Default)]
struct Node {
    name: String,
    physical: Option<i64>,
    /// 0 required, 1 optional, 2 repeated
    repetition: i64,
    children: i64,
}

const BYTE_ARRAY: i64 = 6;

pub(super) fn parse(bytes: &[u8], file_len: u64) -> Result<Footer, Broken> {
    let mut footer = Footer::default();
    let mut known = false;
    Reader::new(bytes).fields(|r, id, kind| {
        match (id, kind) {
            (2, Kind::List) => {
                let mut nodes = Vec::new();
                r.list(|r, _| {
                    if nodes.len() >= COLUMNS_MAX {
                        return Err(Broken::Wrong("too many columns"));
                    }
                    node(r).map(|n| nodes.push(n))
                })?;
                footer.columns = columns(&nodes)?;
                known = true;
            }
            (4, Kind::List) => {
                if !known {
                    return Err(Broken::Wrong("groups of rows before the schema"));
                }
                let mut first_row = 0;
                r.list(|r, _| {
                    let before = footer.chunks.len();
                    let rows = group(r, &footer.columns, file_len, &mut footer.chunks)?;
                    for (_, chunk) in &mut footer.chunks[before..] {
                        (chunk.first_row, chunk.rows) = (first_row, rows);
                    }
                    first_row = first_row.saturating_add(rows);
                    Ok(())
                })?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(footer)
}

fn node(r: &mut Reader<'_>) -> Result<Node, Broken> {
    let mut node = Node::default();
    r.fields(|r, id, kind| {
        match (id, kind) {
            (1, Kind::Int) => node.physical = Some(r.int()?),
            (3, Kind::Int) => node.repetition = r.int()?,
            (4, Kind::Binary) => node.name = String::from_utf8_lossy(r.binary()?).into_owned(),
            (5, Kind::Int) => node.children = r.int()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(node)
}

/// The leaves that are bytes and no lists.
fn columns(nodes: &[Node]) -> Result<Vec<Column>, Broken> {
    // ancestors of the node at hand: the children that each has still, its name, what it adds
    let mut above: Vec<(i64, &str, u32, bool)> = Vec::new();
    let mut found = Vec::new();
    let mut leaves = 0;
    for (i, node) in nodes.iter().enumerate() {
        while above.last().is_some_and(|a| a.0 <= 0) {
            above.pop();
        }
        if i > 0 {
            let Some(parent) = above.last_mut() else {
                return Err(Broken::Wrong("a schema that is no tree"));
            };
            parent.0 -= 1;
        }
        let own = (u32::from(node.repetition != 0), node.repetition == 2);
        if node.children > 0 || i == 0 {
            let root = i == 0;
            let own = if root { (0, false) } else { own };
            above.push((node.children, &node.name, own.0, own.1));
            if above.len() > 32 {
                return Err(Broken::Wrong("a schema nested too deep"));
            }
            continue;
        }
        let repeated = own.1 || above.iter().any(|a| a.3);
        if node.physical == Some(BYTE_ARRAY) && !repeated {
            let names = above.iter().skip(1).map(|a| a.1);
            let name: Vec<&str> = names.chain([node.name.as_str()]).collect();
            found.push(Column {
                name: name.join("."),
                at: leaves,
                optional: above.iter().map(|a| a.2).sum::<u32>() + own.0,
            });
        }
        leaves += 1;
    }
    Ok(found)
}

/// Adds the chunks of the columns of bytes in one group of rows, and gives the rows that it claims.
fn group(
    r: &mut Reader<'_>,
    columns: &[Column],
    file_len: u64,
    chunks: &mut Vec<(usize, Chunk)>,
) -> Result<u64, Broken> {
    let mut rows = 0;
    r.fields(|r, id, kind| {
        match (id, kind) {
            (1, Kind::List) => {
                let mut at = 0;
                let mut wanted = columns.iter().enumerate().peekable();
                r.list(|r, _| {
                    let chunk = chunk(r, file_len)?;
                    if let Some((place, _)) = wanted.next_if(|(_, c)| c.at == at) {
                        chunks.extend(chunk.map(|c| (place, c)));
                    }
                    if chunks.len() > CHUNKS_MAX {
                        return Err(Broken::Wrong("too many chunks of columns"));
                    }
                    at += 1;
                    Ok(())
                })?;
            }
            (3, Kind::Int) => rows = u64::try_from(r.int()?).unwrap_or(0),
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(rows)
}

/// None: elsewhere than in this file, or without a place in it.
fn chunk(r: &mut Reader<'_>, file_len: u64) -> Result<Option<Chunk>, Broken> {
    let mut elsewhere = false;
    let [mut codec, mut len, mut plain_len, mut data, mut dictionary] = [0_i64; 5];
    r.fields(|r, id, kind| {
        match (id, kind) {
            (1, Kind::Binary) => elsewhere = !r.binary()?.is_empty(),
            (3, Kind::Struct) => r.fields(|r, id, kind| {
                if kind != Kind::Int {
                    return Ok(false);
                }
                let value = match id {
                    4 => &mut codec,
                    6 => &mut plain_len,
                    7 => &mut len,
                    9 => &mut data,
                    11 => &mut dictionary,
                    _ => return Ok(false),
                };
                *value = r.int()?;
                Ok(true)
            })?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    // the dictionary lies before the data; some writers say 0 where there is none
    let offset = match dictionary > 0 && dictionary < data {
        true => dictionary,
        false => data,
    };
    let place = u64::try_from(offset).ok().zip(u64::try_from(len).ok());
    let within = |(at, len): &(u64, u64)| {
        *at >= 4 && *len > 0 && at.checked_add(*len).is_some_and(|end| end <= file_len)
    };
    let place = place.filter(within);
    Ok(place.filter(|_| !elsewhere).map(|(offset, len)| Chunk {
        first_row: 0,
        rows: 0,
        offset,
        len,
        plain_len: u64::try_from(plain_len).unwrap_or(0),
        codec,
    }))
}
