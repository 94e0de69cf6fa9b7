//! Libraries that are no part of the driver and that a machine may have: in the system, in conda, in the packages of a
//! Python. Only places that installers use; nothing is searched for.

use std::path::{Path, PathBuf};

/// Folders below `root` and those of the active environments that hold one of the files; `package` is the folder of the
/// Python package, `nvidia/PACKAGE/lib`.
pub(super) fn folders(root: &Path, package: &str, files: &[&str]) -> Vec<PathBuf> {
    const SYSTEM: [&str; 7] = [
        "usr/lib/x86_64-linux-gnu",
        "usr/lib/aarch64-linux-gnu",
        "usr/lib64",
        "usr/local/lib",
        "usr/local/cuda/lib64",
        "opt/conda/lib",
        "usr/lib",
    ];
    const PYTHONS: [&str; 7] = [
        "usr/local/lib",
        "usr/lib",
        "opt/conda/lib",
        "opt/venv/lib",
        "venv/main/lib",
        "workspace/venv/lib",
        "root/.local/lib",
    ];
    let mut all: Vec<PathBuf> = SYSTEM.iter().map(|f| root.join(f)).collect();
    let mut pythons: Vec<PathBuf> = PYTHONS.iter().map(|f| root.join(f)).collect();
    for (variable, below) in [
        ("VIRTUAL_ENV", "lib"),
        ("CONDA_PREFIX", "lib"),
        ("HOME", ".local/lib"),
    ] {
        // of this machine, not of a folder that plays one
        if let (Some(folder), true) = (std::env::var_os(variable), root == Path::new("/")) {
            pythons.push(Path::new(&folder).join(below));
            all.push(Path::new(&folder).join(below));
        }
    }
    for python in pythons {
        let versions = std::fs::read_dir(python).into_iter().flatten().flatten();
        let mut versions: Vec<PathBuf> = versions
            .filter(|v| v.file_name().to_string_lossy().starts_with("python3"))
            .map(|v| v.path())
            .collect();
        versions.sort();
        for version in versions {
            for packages in ["site-packages", "dist-packages"] {
                let at = version.join(packages).join("nvidia").join(package);
                all.push(at.join("lib"));
            }
        }
    }
    all.retain(|folder| files.iter().any(|file| folder.join(file).exists()));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_a_python_are_found() {
        let root = tempfile::tempdir().unwrap();
        let lib = root
            .path()
            .join("usr/local/lib/python3.11/dist-packages/nvidia/nccl/lib");
        std::fs::create_dir_all(&lib).unwrap();
        assert!(folders(root.path(), "nccl", &["libnccl.so.2"]).is_empty());
        std::fs::write(lib.join("libnccl.so.2"), "").unwrap();
        assert_eq!(folders(root.path(), "nccl", &["libnccl.so.2"]), [lib]);
    }
}
