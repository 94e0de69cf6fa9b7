//! What is installed, as plain data: the document `lessee/environment/v1`, which `accept env --save` keeps.
//!
//! Not here: reading it from anywhere (`io/image`), and judging it (the files beside this one).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name and version of the document.
pub const ENVIRONMENT_SCHEMA: &str = "lessee/environment/v1";

/// A machine, an image or a list of packages: all that is installed there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Environment {
    /// `lessee/environment/v1`
    pub schema: String,
    /// RFC 3339, UTC: when it was read.
    pub read_at: String,
    pub sources: Vec<SourceRead>,
    /// As /etc/os-release names it.
    pub os: Option<String>,
    /// `x86_64`, `aarch64`.
    pub arch: Option<String>,
    /// Number of the NVIDIA kernel driver that is loaded.
    pub driver: Option<String>,
    /// Names of the GPUs, where something names them.
    pub gpus: Vec<String>,
    pub pythons: Vec<Python>,
    /// Packages of the system: dpkg, rpm or apk.
    pub system: Vec<SystemPackage>,
    /// CUDA, cuDNN, NCCL and the driver's own library outside Python.
    pub libraries: Vec<Library>,
    /// What could not be read, or not wholly.
    pub notes: Vec<Note>,
}

/// One thing that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceRead {
    pub kind: SourceKind,
    /// File or folder; `/` for this machine.
    pub path: String,
}

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// This machine.
    Live,
    /// The root of another system, mounted.
    Root,
    /// One Python environment on this machine.
    Venv,
    /// A container archive.
    Archive,
    PipFreeze,
    PipList,
    CondaList,
    CondaExport,
    CondaJson,
    DpkgList,
    DpkgStatus,
    RpmList,
    /// A saved environment.
    Saved,
}

impl SourceKind {
    /// As documents spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            SourceKind::Live => "live",
            SourceKind::Root => "root",
            SourceKind::Venv => "venv",
            SourceKind::Archive => "archive",
            SourceKind::PipFreeze => "pip_freeze",
            SourceKind::PipList => "pip_list",
            SourceKind::CondaList => "conda_list",
            SourceKind::CondaExport => "conda_export",
            SourceKind::CondaJson => "conda_json",
            SourceKind::DpkgList => "dpkg_list",
            SourceKind::DpkgStatus => "dpkg_status",
            SourceKind::RpmList => "rpm_list",
            SourceKind::Saved => "saved",
        }
    }

    /// A list of names and versions, which does not say what each package requires; a saved environment is as whole as the
    /// sources that are named beside it.
    pub fn is_list(self) -> bool {
        !matches!(
            self,
            SourceKind::Live | SourceKind::Root | SourceKind::Venv | SourceKind::Archive
        )
    }
}

/// One Python and what is installed into it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Python {
    /// Folder above `bin` and `lib`; of lists the name of the list.
    pub prefix: String,
    pub kind: PythonKind,
    /// As precise as is known: `3.11`, `3.11.7`.
    pub version: Option<String>,
    /// Prefix of the Python whose packages it sees too.
    pub sees: Option<String>,
    pub packages: Vec<Package>,
    /// Packages of conda, Python or not.
    pub conda: Vec<CondaPackage>,
}

/// How a Python came to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PythonKind {
    /// The distribution's own, or one built beside it.
    #[default]
    System,
    Venv,
    Conda,
    /// Packages that a user installed beside the system's.
    User,
    /// From a list of packages.
    Listed,
}

/// One Python package.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// As it calls itself.
    pub name: String,
    pub version: String,
    pub from: PackageFrom,
    /// Where from, as pip noted it; without user names and passwords.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Of the archive that was installed, as pip noted it: `sha256=...`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// SHA-256 over the names and hashes of its own files as its RECORD lists them, sorted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Of frameworks, the CUDA or ROCm that they were built with, by their own files: `cu124`, `rocm6.2`, `cpu`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Of a wheel that is not for any machine, what it is for: `cp311-cp311-manylinux_2_17_x86_64`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_python: Option<String>,
    /// Requires-Dist, as written; null where only a name and a version are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires: Option<Vec<String>>,
}

/// Where a Python package is from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PackageFrom {
    /// A package index, as nothing else is noted.
    #[default]
    Index,
    /// An archive by its address on the network.
    Url,
    /// A file or folder of that machine.
    File,
    /// The working folder of somebody: no version says what is in it.
    Editable,
    /// A commit of a repository.
    Vcs,
    Conda,
    /// The distribution's package manager.
    System,
}

/// One package of conda.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CondaPackage {
    pub name: String,
    pub version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// `sha256=...` or `md5=...`, as conda noted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// One package of the system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SystemPackage {
    pub manager: Manager,
    pub name: String,
    pub version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arch: Option<String>,
    /// SHA-256 of the list of its files' sums that dpkg keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Manager {
    #[default]
    Dpkg,
    Rpm,
    Apk,
}

/// A library of NVIDIA's outside Python.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Library {
    pub kind: LibraryKind,
    pub version: String,
    pub path: String,
}

#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LibraryKind {
    /// A CUDA toolkit or runtime.
    Cuda,
    /// Its compiler.
    Nvcc,
    Cudnn,
    Nccl,
    /// libcuda of the driver.
    Libcuda,
    /// libcuda of the forward-compatibility package.
    CudaCompat,
}

impl LibraryKind {
    pub fn as_str(self) -> &'static str {
        match self {
            LibraryKind::Cuda => "cuda",
            LibraryKind::Nvcc => "nvcc",
            LibraryKind::Cudnn => "cudnn",
            LibraryKind::Nccl => "nccl",
            LibraryKind::Libcuda => "libcuda",
            LibraryKind::CudaCompat => "cuda_compat",
        }
    }
}

/// Something that could not be read, or not wholly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Note {
    pub code: NoteCode,
    pub path: String,
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoteCode {
    Empty,
    /// None of the kinds that are known.
    NotRecognised,
    /// It ends before its end.
    Truncated,
    /// Larger than is looked at.
    TooLarge,
    /// Bytes that are no text, or archives that are none.
    Damaged,
    /// Folders that may not be read.
    Skipped,
    /// More than one image; the first was read.
    Several,
    /// Packages without a name or version, as installs that broke off leave them.
    Leftover,
    /// A database of packages that only its own program reads.
    Unreadable,
}

impl NoteCode {
    pub fn as_str(self) -> &'static str {
        match self {
            NoteCode::Empty => "empty",
            NoteCode::NotRecognised => "not_recognised",
            NoteCode::Truncated => "truncated",
            NoteCode::TooLarge => "too_large",
            NoteCode::Damaged => "damaged",
            NoteCode::Skipped => "skipped",
            NoteCode::Several => "several",
            NoteCode::Leftover => "leftover",
            NoteCode::Unreadable => "unreadable",
        }
    }
}

impl NoteCode {
    /// Whether what was meant to be read was not read, or not wholly.
    pub fn is_open(self) -> bool {
        !matches!(
            self,
            NoteCode::Skipped | NoteCode::Leftover | NoteCode::Unreadable | NoteCode::Several
        )
    }
}

impl Environment {
    /// An empty one of that moment.
    pub fn new(read_at: String) -> Environment {
        Environment {
            schema: ENVIRONMENT_SCHEMA.to_owned(),
            read_at,
            ..Environment::default()
        }
    }

    pub fn note(&mut self, code: NoteCode, path: &str, detail: impl Into<String>) {
        self.notes.push(Note {
            code,
            path: path.to_owned(),
            detail: detail.into(),
        });
    }

    /// Whether anything at all that is installed was found.
    pub fn is_bare(&self) -> bool {
        self.pythons
            .iter()
            .all(|p| p.packages.is_empty() && p.conda.is_empty())
            && self.system.is_empty()
            && self.libraries.is_empty()
    }

    /// Whether all of it was read: nothing was cut off, too large or damaged. Folders that may not be read are apart.
    pub fn is_whole(&self) -> bool {
        self.notes.iter().all(|n| !n.code.is_open())
    }

    /// Puts another reading beside this one: a list of Python packages and one of the system's make one environment.
    pub fn join(&mut self, other: Environment) {
        self.sources.extend(other.sources);
        self.os = self.os.take().or(other.os);
        self.arch = self.arch.take().or(other.arch);
        self.driver = self.driver.take().or(other.driver);
        self.gpus.extend(other.gpus);
        for python in other.pythons {
            match self.pythons.iter_mut().find(|p| p.prefix == python.prefix) {
                Some(known) => {
                    known.packages.extend(python.packages);
                    known.conda.extend(python.conda);
                }
                None => self.pythons.push(python),
            }
        }
        self.system.extend(other.system);
        self.libraries.extend(other.libraries);
        self.notes.extend(other.notes);
    }

    /// The order in which it is kept: by name, so that two readings of the same thing are equal.
    pub fn sort(&mut self) {
        self.pythons.sort_by(|a, b| a.prefix.cmp(&b.prefix));
        for python in &mut self.pythons {
            let key = |p: &Package| (name_key(&p.name), p.version.clone());
            python.packages.sort_by_key(key);
            python.conda.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let key = |p: &SystemPackage| (p.name.clone(), p.arch.clone(), p.version.clone());
        self.system.sort_by_key(key);
        self.libraries
            .sort_by(|a, b| (a.kind, &a.path).cmp(&(b.kind, &b.path)));
    }
}

impl Python {
    /// A package by its name, however it is spelt.
    pub fn package(&self, name: &str) -> Option<&Package> {
        let key = name_key(name);
        self.packages.iter().find(|p| name_key(&p.name) == key)
    }
}

/// A name as package indexes compare it: lower case, each run of `-_.` one `-`.
pub fn name_key(name: &str) -> String {
    let mut key = String::with_capacity(name.len());
    for c in name.trim().chars() {
        match c {
            '-' | '_' | '.' if key.ends_with('-') => {}
            '-' | '_' | '.' => key.push('-'),
            c => key.push(c.to_ascii_lowercase()),
        }
    }
    key
}
