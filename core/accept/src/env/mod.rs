//! What is installed: is it ready for the work, or a day of repair?
//!
//! Start at [`judge_env`]: an [`Environment`] in, findings and the repairs that are due out. `requires` asks what `pip check`
//! asks, `pairs` what lists of packages leave unsaid, `fit` whether driver and GPU carry it, `needs` whether what is wanted is
//! there, `system` looks at what is outside Python, `repair` adds up hours. [`changes`] compares two environments where both looked
//! (`cover`), and [`rollback`] says what brings a saved one back. Not here: reading files (`io/image`), running anything.

mod cover;
mod diff;
mod fit;
mod judge;
mod lock;
mod needs;
mod pairs;
mod repair;
mod requires;
mod rollback;
mod system;
mod wheel;

pub use cover::LeftOut;
pub use diff::{Change, ChangeKind, Compared, changes};
pub use judge::{EnvAnswer, EnvCase, judge_env};
pub use lock::{
    CondaPackage, ENVIRONMENT_SCHEMA, Environment, Library, LibraryKind, Manager, Note, NoteCode,
    Package, PackageFrom, Python, PythonKind, SourceKind, SourceRead, SystemPackage, name_key,
};
pub(crate) use pairs::{Pair, row as pair_row};
pub use repair::{Hours, RepairItem, RepairKind, RepairPlan, RepairTable};
pub(crate) use requires::parsed;
pub use rollback::{Lost, LostWhy, Rollback, Step, rollback};
