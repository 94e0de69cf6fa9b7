//! Which samples a folder holds: files, members of tar shards, each as a byte range, and rows of Parquet files. Read only;
//! links are not followed.
//!
//! Images, arrays, shards and tables are told by their ending. Other files count as plain bytes only where there is nothing else:
//! beside images they are labels. What a sample really is, is told by its content when it is decoded (`decode.rs`).

use super::FeedError;
use super::decode::Bounds;
use super::parquet::Table;
use super::tar;
use crate::files;
use crate::step::Noise;
use lessee_model::probe::{ParquetColumn, SampleSet};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// More are not looked at: the order of the first two hundred thousand tells nothing new.
const SAMPLES_MAX: usize = 200_000;

/// A byte range that is one sample, or a row of a table.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    /// Index into [`Samples::files`].
    pub(super) file: usize,
    /// Where it begins; of a row its number in the file.
    pub(super) offset: u64,
    /// Of a row the mean of its group.
    pub(super) len: u64,
    /// Name in its shard.
    pub(super) member: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Samples {
    pub(super) root: PathBuf,
    pub(super) files: Vec<PathBuf>,
    pub(super) list: Vec<Sample>,
    /// By index into `files`: those that are Parquet.
    tables: BTreeMap<usize, Table>,
    pub(super) notes: Vec<String>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Sample,
    Shard,
    Table,
    Other,
}

impl Samples {
    pub(super) fn in_folder(root: &Path, bounds: &Bounds) -> Result<Samples, FeedError> {
        let mut found = Vec::new();
        let mut notes = Vec::new();
        files::walk(root, SAMPLES_MAX, &mut found, &mut notes).map_err(|source| {
            FeedError::Folder {
                path: root.to_owned(),
                source,
            }
        })?;
        // the order of a folder is that of its hash table: sorted, so that two runs see the same
        found.sort();
        let mut samples = Samples {
            root: root.to_owned(),
            notes,
            ..Samples::default()
        };
        let known = found.iter().any(|(p, _)| kind(p) != Kind::Other);
        for (path, len) in found {
            match kind(&path) {
                Kind::Shard => samples.add_shard(path),
                Kind::Table => samples.add_table(path, bounds),
                Kind::Sample => samples.add_file(path, len),
                Kind::Other if !known => samples.add_file(path, len),
                Kind::Other => {}
            }
            if samples.list.len() >= SAMPLES_MAX {
                samples.list.truncate(SAMPLES_MAX);
                samples
                    .notes
                    .push(format!("only the first {SAMPLES_MAX} samples are used"));
                break;
            }
        }
        if samples.list.is_empty() {
            return Err(FeedError::NoSamples {
                path: root.to_owned(),
                first: samples.notes.first().cloned().unwrap_or_default(),
            });
        }
        samples.shuffle();
        Ok(samples)
    }

    pub(super) fn set(&self) -> SampleSet {
        SampleSet {
            samples: self.list.len(),
            files: self.files.len(),
            bytes: self.list.iter().map(|s| s.len).fold(0, u64::saturating_add),
            parquet: self.columns(),
            notes: self.notes.clone(),
        }
    }

    /// The columns that are read out of tables.
    fn columns(&self) -> Vec<ParquetColumn> {
        let mut files: BTreeMap<&str, usize> = BTreeMap::new();
        for table in self.tables.values() {
            *files.entry(&table.column).or_default() += 1;
        }
        let column = |(column, files): (&str, usize)| ParquetColumn {
            column: column.to_owned(),
            files,
        };
        files.into_iter().map(column).collect()
    }

    /// The table of which a sample is a row.
    pub(super) fn table(&self, sample: &Sample) -> Option<&Table> {
        self.tables.get(&sample.file)
    }

    pub(super) fn has_tables(&self) -> bool {
        !self.tables.is_empty()
    }

    /// A place in the file about in the middle of a sample.
    pub(super) fn position(&self, sample: &Sample) -> u64 {
        match self.table(sample) {
            Some(table) => table.position(sample.offset),
            None => sample.offset + sample.len / 2,
        }
    }

    pub(super) fn path(&self, sample: &Sample) -> &Path {
        self.files.get(sample.file).unwrap_or(&self.root)
    }

    /// For people: the path below the folder, and the member.
    pub(super) fn name(&self, sample: &Sample) -> String {
        let path = self.path(sample);
        let short = path.strip_prefix(&self.root).unwrap_or(path).display();
        match (&sample.member, self.table(sample)) {
            (Some(member), _) => format!("{short}:{member}"),
            (None, Some(_)) => format!("{short}:{}", sample.offset),
            (None, None) => short.to_string(),
        }
    }

    /// The name promises an image or an array: anything else in it is damage, not plain bytes.
    pub(super) fn promises(&self, sample: &Sample) -> bool {
        if let Some(table) = self.table(sample) {
            return table.promises;
        }
        let name = match &sample.member {
            Some(member) => Path::new(member),
            None => self.path(sample),
        };
        kind(name) == Kind::Sample
    }

    fn add_file(&mut self, path: PathBuf, len: u64) {
        self.list.push(Sample {
            file: self.files.len(),
            offset: 0,
            len,
            member: None,
        });
        self.files.push(path);
    }

    fn add_shard(&mut self, path: PathBuf) {
        let room = SAMPLES_MAX.saturating_sub(self.list.len());
        let read = File::open(&path).and_then(|file| tar::members(&file, room * 4));
        let (members, ended) = match read {
            Ok(read) => read,
            Err(e) => (Vec::new(), Some(e.to_string())),
        };
        if let Some(why) = ended {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            self.notes.push(format!("shard {name}: {why}"));
        }
        let is_sample = |m: &tar::Member| kind(Path::new(&m.name)) == Kind::Sample;
        let known = members.iter().any(is_sample);
        let chosen = members.into_iter().filter(|m| !known || is_sample(m));
        let file = self.files.len();
        self.list.extend(chosen.map(|m| Sample {
            file,
            offset: m.offset,
            len: m.len,
            member: Some(m.name),
        }));
        self.files.push(path);
    }

    fn add_table(&mut self, path: PathBuf, bounds: &Bounds) {
        let opened = File::open(&path).map_err(|e| e.to_string());
        let table = match opened.and_then(|file| Table::open(&file, bounds.page_bytes())) {
            Ok(table) => table,
            Err(why) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                self.notes.push(format!("{name}: {why}"));
                return;
            }
        };
        let file = self.files.len();
        let room = SAMPLES_MAX.saturating_sub(self.list.len()) + 1;
        self.list.extend(table.rows(room).map(|(row, len)| Sample {
            file,
            offset: row,
            len,
            member: None,
        }));
        self.tables.insert(file, table);
        self.files.push(path);
    }

    /// Single files are visited in random order, as in training; shards and tables are read front to back, in random order of them.
    fn shuffle(&mut self) {
        let mut noise = Noise::new(self.list.len() as u64);
        let places: Vec<u64> = (0..self.files.len()).map(|_| noise.next()).collect();
        self.list
            .sort_by_key(|s| (places.get(s.file).copied(), s.file, s.offset));
    }
}

fn kind(path: &Path) -> Kind {
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    match ending.to_ascii_lowercase().as_str() {
        "jpg" | "jpeg" | "jpe" | "png" | "webp" | "npy" => Kind::Sample,
        "tar" => Kind::Shard,
        "parquet" | "pq" => Kind::Table,
        _ => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_beside_images_are_no_samples_and_shards_are_opened() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, data: &[u8]| std::fs::write(dir.path().join(name), data).unwrap();
        put("a.JPEG", b"x");
        put("labels.txt", b"x");
        put("empty.png", b"");
        put(
            "s.tar",
            &tar::tar_of(&[("1.jpg", b"aa"), ("1.cls", b"1"), ("2.jpg", b"bb")]),
        );
        let found = Samples::in_folder(dir.path(), &Bounds::default()).unwrap();
        let mut names: Vec<_> = found.list.iter().map(|s| found.name(s)).collect();
        names.sort();
        assert_eq!(names, ["a.JPEG", "s.tar:1.jpg", "s.tar:2.jpg"]);
        assert_eq!(found.set().bytes, 5);
    }

    #[test]
    fn plain_files_count_where_there_is_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(
            Samples::in_folder(dir.path(), &Bounds::default()),
            Err(FeedError::NoSamples { .. })
        ));
        std::fs::create_dir(dir.path().join("deep")).unwrap();
        std::fs::write(dir.path().join("deep/tokens.bin"), b"12").unwrap();
        assert_eq!(
            Samples::in_folder(dir.path(), &Bounds::default())
                .unwrap()
                .list
                .len(),
            1
        );
        let gone = dir.path().join("gone");
        assert!(matches!(
            Samples::in_folder(&gone, &Bounds::default()),
            Err(FeedError::Folder { .. })
        ));
    }
}
