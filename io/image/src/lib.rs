//! What is installed on a machine or in an image, read from its files: no Python and no program of the image runs.
//!
//! Start at [`read_machine`], [`read_root`], [`read_venv`] (folders), [`read_archive`] (docker save, OCI layout, a root in a tar)
//! and [`read_list`] (`pip freeze`, `conda list`, `dpkg -l`, `rpm -qa`, a saved environment). Folders and archives become a
//! [`tree`] of the few files that matter; `facts` turns it into an [`Environment`](lessee_accept::env::Environment).
//! Not here: judging (`core/accept`), captures of nvidia-smi (`io/probe`).

mod archive;
mod facts;
mod layers;
mod lists;
mod open;
mod run;
mod tree;
mod walk;
mod zstd;

pub use lists::read_list;
pub use open::{
    ImageError, MAX_LIST_BYTES, read_file, read_folder, read_input, read_machine, read_root,
    read_venv,
};
pub use run::{Ran, run};
