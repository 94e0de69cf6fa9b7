//! `accept security` on disks, through the real binary: LUKS headers that cryptsetup made, recorded trees of `/proc` and
//! `/sys`, outputs of `lsblk -J` and `nvme id-ctrl`.

#![allow(clippy::unwrap_used)]
#![cfg(target_os = "linux")]

mod common;

use common::{Home, Run};
use lessee_testkit::peer::{program, succeeds};
use serde_json::Value;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

#[track_caller]
fn one<'a>(doc: &'a Value, rule: &str) -> &'a Value {
    let findings = doc["findings"].as_array().unwrap();
    let mut those = findings.iter().filter(|f| f["rule"] == rule);
    let first = those.next().unwrap_or_else(|| panic!("no {rule}: {doc}"));
    assert!(those.next().is_none(), "two findings of {rule}: {doc}");
    first
}

#[track_caller]
fn of<'a>(doc: &'a Value, rule: &str, end: &str) -> &'a Value {
    let findings = doc["findings"].as_array().unwrap();
    let found = findings
        .iter()
        .find(|f| f["rule"] == rule && f["subject"].as_str().unwrap().ends_with(end));
    found.unwrap_or_else(|| panic!("no {rule} of {end}: {doc}"))
}

fn security(home: &Home, args: &[&str]) -> Run {
    home.run(&[&["accept", "security"], args, &["-o", "json"]].concat())
}

/// A volume that cryptsetup made; none is opened, so nobody need be root.
fn volume(home: &Home, name: &str, args: &[&str]) -> Option<PathBuf> {
    let cryptsetup = program("cryptsetup")?;
    let file = home.path(name);
    std::fs::File::create(&file)
        .unwrap()
        .set_len(20 << 20)
        .unwrap();
    let key = home.file("key", "a passphrase");
    let mut make = Command::new(cryptsetup);
    make.args(["luksFormat", "-q", "--key-file", &key])
        .args(args)
        .arg(&file);
    succeeds(&mut make);
    Some(file)
}

const ARGON: [&str; 8] = [
    "--type",
    "luks2",
    "--pbkdf",
    "argon2id",
    "--pbkdf-force-iterations",
    "4",
    "--pbkdf-memory",
    "65536",
];
const FIRST: [&str; 4] = ["--type", "luks1", "--pbkdf-force-iterations", "2000"];

#[test]
fn headers_of_both_versions_are_read() {
    let home = Home::new();
    let Some(second) = volume(&home, "second", &ARGON) else {
        return;
    };
    let first = volume(&home, "first", &FIRST).unwrap();
    let look = |file: &Path, exit: i32| {
        security(&home, &["--luks", file.to_str().unwrap()])
            .exits(exit)
            .json()
    };
    let doc = look(&second, 0);
    for rule in ["luks-header", "luks-cipher", "luks-slots", "luks-kdf"] {
        assert_eq!(one(&doc, rule)["verdict"], "pass", "{doc}");
    }
    // what cryptsetup itself says of it
    let dump = succeeds(
        Command::new(program("cryptsetup").unwrap())
            .arg("luksDump")
            .arg(&second),
    );
    let dump = String::from_utf8(dump.stdout).unwrap();
    let uuid = dump
        .lines()
        .find_map(|l| l.strip_prefix("UUID:"))
        .unwrap()
        .trim();
    assert!(
        one(&doc, "luks-header")["reason"]
            .as_str()
            .unwrap()
            .contains(uuid)
    );
    let cipher = one(&doc, "luks-cipher")["reason"].as_str().unwrap();
    assert!(
        cipher.contains("aes-xts-plain64") && cipher.contains("512"),
        "{cipher}"
    );
    assert_eq!(doc["evidence"][0]["kind"], "luks");

    let doc = look(&first, 0);
    assert_eq!(one(&doc, "luks-kdf")["verdict"], "warn");
    let said = one(&doc, "luks-kdf")["reason"].as_str().unwrap();
    assert!(said.contains("pbkdf2") && said.contains("2,000"), "{said}");
}

#[test]
fn argon2_is_judged_by_its_memory_and_passes() {
    let home = Home::new();
    let argon = |name: &str, memory: &'static str| {
        let mut args = ARGON;
        args[7] = memory;
        volume(&home, name, &args)
    };
    let Some(least) = argon("least", "32") else {
        return;
    };
    let low = argon("low", "32768").unwrap();
    let look = |file: &Path, exit: i32| {
        security(&home, &["--luks", file.to_str().unwrap()])
            .exits(exit)
            .json()
    };
    assert_eq!(
        one(&look(&least, 1), "luks-kdf")["code"],
        "luks_argon_short"
    );
    assert_eq!(one(&look(&low, 0), "luks-kdf")["code"], "luks_argon_low");
}

#[test]
fn what_is_weak_in_a_volume_is_told() {
    let home = Home::new();
    let cbc = [
        &FIRST[..],
        &["--cipher", "aes-cbc-essiv:sha256", "--key-size", "256"],
    ]
    .concat();
    let Some(cbc) = volume(&home, "cbc", &cbc) else {
        return;
    };
    let ecb = [&ARGON[..], &["--cipher", "aes-ecb", "--key-size", "256"]].concat();
    let ecb = volume(&home, "ecb", &ecb).unwrap();
    let short = [
        &ARGON[..],
        &["--cipher", "aes-cbc-essiv:sha256", "--key-size", "128"],
    ]
    .concat();
    let short = volume(&home, "short", &short).unwrap();
    let look = |file: &Path, exit: i32| {
        security(&home, &["--luks", file.to_str().unwrap()])
            .exits(exit)
            .json()
    };
    assert_eq!(one(&look(&cbc, 0), "luks-cipher")["verdict"], "warn");
    assert_eq!(one(&look(&ecb, 1), "luks-cipher")["verdict"], "fail");
    assert_eq!(one(&look(&short, 1), "luks-cipher")["verdict"], "fail");
    // a second key slot: somebody else may hold its key
    let other = home.file("other", "another passphrase");
    let mut add = Command::new(program("cryptsetup").unwrap());
    add.args([
        "luksAddKey",
        "-q",
        "--pbkdf",
        "pbkdf2",
        "--pbkdf-force-iterations",
        "1000",
    ])
    .args(["--key-file", home.path("key").to_str().unwrap()])
    .arg(&cbc)
    .arg(&other);
    succeeds(&mut add);
    let doc = look(&cbc, 0);
    assert_eq!(one(&doc, "luks-slots")["verdict"], "warn");
    assert!(
        one(&doc, "luks-slots")["reason"]
            .as_str()
            .unwrap()
            .contains("in use: 2")
    );
}

#[test]
fn a_header_that_is_damaged_or_cut_is_no_pass() {
    let home = Home::new();
    let Some(volume) = volume(&home, "volume", &ARGON) else {
        return;
    };
    let whole = std::fs::read(&volume).unwrap();
    let look = |name: &str, bytes: &[u8]| {
        let file = home.file(name, bytes);
        security(&home, &["--luks", &file])
    };
    for end in [0, 5, 6, 8, 16, 200, 511, 4096, 5000, 0x3fff] {
        let doc = look("cut", &whole[..end]).exits(7).json();
        let findings = doc["findings"].as_array().unwrap();
        assert!(
            findings.iter().all(|f| f["verdict"] != "pass"),
            "{end}: {doc}"
        );
    }
    // the first copy damaged: the second is read, and that is said
    let mut damaged = whole.clone();
    damaged[4200] ^= 1;
    let doc = look("damaged", &damaged).exits(0).json();
    assert_eq!(one(&doc, "luks-header")["code"], "luks_second", "{doc}");
    // both damaged
    damaged[0x4000 + 4200] ^= 1;
    let doc = look("both", &damaged).exits(7).json();
    assert!(one(&doc, "luks-header")["verdict"] == "unknown", "{doc}");
    let doc = look("none", b"no header at all, whatever the name")
        .exits(7)
        .json();
    assert_eq!(one(&doc, "luks-header")["code"], "luks_not");
    let missing = home.path("missing");
    security(&home, &["--luks", missing.to_str().unwrap()]).exits(2);
}

/// A folder with what a machine's `/proc` and `/sys` say.
struct Recorded {
    home: Home,
}

impl Recorded {
    fn new(mountinfo: &str, swaps: &str) -> Recorded {
        let home = Home::new();
        home.file("m/proc/self/mountinfo", mountinfo);
        let heading = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
        home.file("m/proc/swaps", format!("{heading}{swaps}"));
        home.file("m/sys/class/block/.keep", "");
        Recorded { home }
    }

    /// As the kernel has it: a link from the class to the device's place.
    fn device(&self, place: &str, files: &[(&str, &str)]) -> &Recorded {
        for (name, content) in files {
            self.home
                .file(&format!("m/sys/devices/{place}/{name}"), content);
        }
        let name = Path::new(place).file_name().unwrap();
        let link = self.home.path("m/sys/class/block").join(name);
        symlink(format!("../../devices/{place}"), link).unwrap();
        self
    }

    /// vda below dm-crypt, and vdb in the clear.
    fn two_disks_one_encrypted(&self) -> &Recorded {
        self.device("virtio0/block/vda", &[("dev", "254:0\n")])
            .device("virtio1/block/vdb", &[("dev", "254:16\n")])
            .device(
                "virtual/block/dm-0",
                &[
                    ("dev", "253:0\n"),
                    ("dm/name", "c\n"),
                    ("dm/uuid", "CRYPT-LUKS2-0-c\n"),
                ],
            )
            .slave("virtio0/block/vda", "virtual/block/dm-0")
    }

    fn slave(&self, place: &str, of: &str) -> &Recorded {
        let name = Path::new(place).file_name().unwrap().to_str().unwrap();
        let folder = self.home.path(&format!("m/sys/devices/{of}/slaves"));
        std::fs::create_dir_all(&folder).unwrap();
        symlink(format!("/sys/devices/{place}"), folder.join(name)).unwrap();
        self
    }

    fn look(&self, exit: i32) -> Value {
        let place = self.home.path("m");
        security(&self.home, &["--machine", place.to_str().unwrap()])
            .exits(exit)
            .json()
    }
}

const DISK: &str = "pci0/nvme/nvme0/nvme0n1";

fn encrypted(swaps: &str) -> Recorded {
    let mounts = "\
22 1 253:1 / / rw,relatime shared:1 - ext4 /dev/mapper/vg-root rw
23 22 0:21 / /proc rw - proc proc rw
24 22 259:1 / /boot rw - ext4 /dev/nvme0n1p1 rw
25 22 253:1 /var/lib/docker /var/lib/docker rw - ext4 /dev/mapper/vg-root rw
";
    let recorded = Recorded::new(mounts, swaps);
    recorded
        .device(
            DISK,
            &[("dev", "259:0\n"), ("device/model", "Some NVMe 1TB\n")],
        )
        .device(
            &format!("{DISK}/nvme0n1p1"),
            &[("dev", "259:1\n"), ("partition", "1\n")],
        )
        .device(
            &format!("{DISK}/nvme0n1p2"),
            &[("dev", "259:2\n"), ("partition", "2\n")],
        )
        .device(
            "virtual/block/dm-0",
            &[
                ("dev", "253:0\n"),
                ("dm/name", "luks-data\n"),
                ("dm/uuid", "CRYPT-LUKS2-0123456789abcdef-luks-data\n"),
            ],
        )
        .device(
            "virtual/block/dm-1",
            &[
                ("dev", "253:1\n"),
                ("dm/name", "vg-root\n"),
                ("dm/uuid", "LVM-abc\n"),
            ],
        )
        .slave("virtual/block/dm-0", "virtual/block/dm-1")
        .slave(&format!("{DISK}/nvme0n1p2"), "virtual/block/dm-0");
    recorded
}

#[test]
fn dm_crypt_below_lvm_is_seen_and_one_finding_stands_for_a_file_system() {
    let doc = encrypted("").look(0);
    let finding = one(&doc, "disk-encryption");
    assert_eq!(finding["verdict"], "pass", "{doc}");
    assert!(finding["subject"].as_str().unwrap().ends_with(" /"));
    let said = finding["reason"].as_str().unwrap();
    assert!(
        said.contains("LUKS2") && said.contains("luks-data"),
        "{said}"
    );
    assert_eq!(one(&doc, "swap-encryption")["code"], "swap_none");
}

#[test]
fn swap_in_the_clear_beside_encrypted_data_fails() {
    let doc = encrypted("/dev/nvme0n1p1   partition\t8388604\t0\t-2\n").look(1);
    assert_eq!(one(&doc, "swap-encryption")["code"], "swap_leak", "{doc}");
    let doc = encrypted("/dev/dm-0  partition\t8388604\t0\t-2\n").look(0);
    assert_eq!(one(&doc, "swap-encryption")["code"], "swap_crypt", "{doc}");
    // a file within the encrypted file system
    let doc = encrypted("/swap\\040file  file\t8388604\t0\t-2\n").look(0);
    assert_eq!(one(&doc, "swap-encryption")["verdict"], "pass", "{doc}");
}

#[test]
fn a_disk_without_a_layer_is_a_question_and_no_failure() {
    let mounts =
        "22 1 254:0 / / rw - ext4 /dev/vda rw\n30 22 254:16 / /data rw - xfs /dev/vdb rw\n";
    let recorded = Recorded::new(mounts, "/dev/vdb partition 1 0 -2\n");
    recorded
        .device("virtio0/block/vda", &[("dev", "254:0\n")])
        .device("virtio1/block/vdb", &[("dev", "254:16\n")]);
    let doc = recorded.look(7);
    for place in [" /", " /data"] {
        let finding = of(&doc, "disk-encryption", place);
        assert_eq!(finding["verdict"], "unknown");
        assert!(finding["ask"].is_string());
        assert!(
            finding["reason"]
                .as_str()
                .unwrap()
                .contains("cannot be seen from inside")
        );
    }
    assert_eq!(one(&doc, "swap-encryption")["verdict"], "unknown");
}

#[test]
fn of_two_disks_below_a_volume_the_one_in_the_clear_decides() {
    let mounts = "22 1 253:1 / / rw - ext4 /dev/mapper/vg-root rw\n";
    let recorded = Recorded::new(mounts, "");
    recorded
        .two_disks_one_encrypted()
        .device(
            "virtual/block/dm-1",
            &[
                ("dev", "253:1\n"),
                ("dm/name", "vg-root\n"),
                ("dm/uuid", "LVM-abc\n"),
            ],
        )
        .slave("virtual/block/dm-0", "virtual/block/dm-1")
        .slave("virtio1/block/vdb", "virtual/block/dm-1");
    let doc = recorded.look(7);
    assert_eq!(one(&doc, "disk-encryption")["verdict"], "unknown", "{doc}");
}

/// A btrfs on a disk with dm-crypt and, where `members` says so, one without.
fn btrfs(members: &[&str]) -> Value {
    let mounts = "22 1 0:40 / / rw - btrfs /dev/mapper/c rw,subvol=/\n";
    let recorded = Recorded::new(mounts, "");
    recorded.two_disks_one_encrypted();
    for member in members {
        recorded
            .home
            .file(&format!("m/sys/fs/btrfs/0-1/devices/{member}/x"), "");
    }
    let place = recorded.home.path("m");
    security(&recorded.home, &["--machine", place.to_str().unwrap()]).json()
}

#[test]
fn a_btrfs_is_judged_by_all_its_devices() {
    for (members, verdict) in [
        (&["dm-0"][..], "pass"),
        (&["dm-0", "vdb"], "unknown"),
        // one that is not recorded, and none at all
        (&["dm-0", "dm-7"], "unknown"),
        (&[], "unknown"),
    ] {
        let doc = btrfs(members);
        assert_eq!(
            one(&doc, "disk-encryption")["verdict"],
            verdict,
            "{members:?} {doc}"
        );
    }
    let home = Home::new();
    let lsblk = r#"{"blockdevices":[{"name":"sda","type":"disk","children":[
 {"name":"c","type":"crypt","fstype":"btrfs","mountpoints":["/"]}]},
 {"name":"sdb","type":"disk","fstype":"btrfs","mountpoints":[null]}]}"#;
    let file = home.file("two.json", lsblk);
    let doc = security(&home, &["--machine", &file]).exits(7).json();
    assert_eq!(one(&doc, "disk-encryption")["verdict"], "unknown", "{doc}");
}

#[test]
fn swap_that_is_not_to_be_seen_is_a_question() {
    let home = Home::new();
    let lsblk = r#"{"blockdevices":[{"name":"sda","type":"disk","children":[
 {"name":"c","type":"crypt","fstype":"ext4","mountpoints":["/"]}]}]}"#;
    let file = home.file("no-swap.json", lsblk);
    let doc = security(&home, &["--machine", &file]).exits(7).json();
    assert_eq!(one(&doc, "swap-encryption")["code"], "swap_unseen", "{doc}");
    home.file("r/etc/fstab", "/dev/mapper/root / ext4 defaults 0 1\n");
    home.file("r/etc/crypttab", "root UUID=3 none luks\n");
    let root = home.path("r");
    let doc = security(&home, &["--machine", root.to_str().unwrap()]).json();
    assert_eq!(one(&doc, "swap-encryption")["code"], "swap_unseen", "{doc}");
}

#[test]
fn containers_and_mounts_over_the_network() {
    let mounts = "\
22 1 0:50 / / rw - overlay overlay rw,lowerdir=a
23 22 254:0 /x /etc/hosts rw - ext4 /dev/vda rw
24 22 0:51 / /data rw - nfs4 10.0.0.1:/data rw,vers=4.2,sec=sys
25 22 0:52 / /safe rw - nfs4 10.0.0.1:/safe rw,vers=4.2,xprtsec=mtls
26 22 0:53 / /old rw - cifs //10.0.0.2/old rw,vers=1.0
27 22 0:54 / /new rw - cifs //10.0.0.2/new rw,vers=3.1.1,seal
28 22 0:55 / /bucket rw - fuse.s3fs s3fs rw,user_id=0
29 22 0:56 / /fast rw - lustre 10.0.0.3@tcp:/fs rw,flock
";
    let doc = Recorded::new(mounts, "").look(1);
    for (place, verdict) in [
        ("/data", "warn"),
        ("/safe", "pass"),
        ("/old", "fail"),
        ("/new", "pass"),
        ("/bucket", "unknown"),
        ("/fast", "unknown"),
    ] {
        assert_eq!(
            of(&doc, "net-mount", place)["verdict"],
            verdict,
            "{place}: {doc}"
        );
    }
    let findings = doc["findings"].as_array().unwrap();
    let container = findings
        .iter()
        .find(|f| f["code"] == "disk_container")
        .unwrap();
    assert_eq!(container["verdict"], "unknown");
}

#[test]
fn links_out_of_a_recorded_tree_are_not_followed() {
    let mounts = "22 1 254:0 / / rw - ext4 /dev/vda rw\n";
    let recorded = Recorded::new(mounts, "");
    recorded.device("virtio0/block/vda", &[("dev", "254:0\n")]);
    let secret = recorded.home.file("secret", "geheim\n");
    let device = recorded.home.path("m/sys/devices/virtio0/block/vda/device");
    std::fs::create_dir_all(&device).unwrap();
    symlink(secret, device.join("model")).unwrap();
    // a device that lies on itself
    recorded.slave("virtio0/block/vda", "virtio0/block/vda");
    let doc = recorded.look(7);
    assert!(!doc.to_string().contains("geheim"), "{doc}");
}

#[test]
fn lsblk_and_nvme_listings() {
    let home = Home::new();
    let lsblk = r#"{"blockdevices":[
 {"name":"nvme0n1","type":"disk","fstype":null,"mountpoints":[null],"model":"Some NVMe","children":[
   {"name":"nvme0n1p1","type":"part","fstype":"vfat","mountpoints":["/boot/efi"]},
   {"name":"nvme0n1p2","type":"part","fstype":"crypto_LUKS","mountpoints":[null],"children":[
     {"name":"data","type":"crypt","fstype":"LVM2_member","mountpoints":[null],"children":[
       {"name":"vg-root","type":"lvm","fstype":"ext4","mountpoints":["/var/lib/docker","/"]},
       {"name":"vg-swap","type":"lvm","fstype":"swap","mountpoints":["[SWAP]"]}]}]}]},
 {"name":"sda","type":"disk","fstype":"ext4","mountpoint":"/scratch","model":"Virtual disk"}]}"#;
    let nvme = r#"{"vid":1,"mn":"Some NVMe                 ","fr":"1","oacs":7,"fna":0,"sanicap":1073741825}"#;
    let plain = home.file("lsblk.json", lsblk);
    let doc = security(&home, &["--machine", &plain]).exits(7).json();
    assert_eq!(
        of(&doc, "disk-encryption", " /")["verdict"],
        "pass",
        "{doc}"
    );
    assert_eq!(
        of(&doc, "disk-encryption", " /scratch")["verdict"],
        "unknown"
    );
    assert_eq!(one(&doc, "swap-encryption")["code"], "swap_crypt");
    let findings = doc["findings"].as_array().unwrap();
    assert_eq!(
        findings
            .iter()
            .filter(|f| f["rule"] == "disk-encryption")
            .count(),
        2
    );

    home.file("folder/lsblk.json", lsblk.replace("/scratch", "/boot"));
    home.file("folder/nvme0.json", nvme);
    let folder = home.path("folder");
    let doc = security(&home, &["--machine", folder.to_str().unwrap()])
        .exits(0)
        .json();
    assert_eq!(one(&doc, "disk-erase")["code"], "nvme_crypto", "{doc}");
    assert_eq!(one(&doc, "disk-opal")["verdict"], "pass");
}

#[test]
fn a_mounted_root_is_read_by_its_tables() {
    let home = Home::new();
    home.file("r/etc/fstab", "# c\n/dev/mapper/root / ext4 defaults 0 1\nUUID=1 /data xfs defaults 0 2\nUUID=2 none swap sw 0 0\n");
    home.file("r/etc/crypttab", "root UUID=3 none luks\n");
    let root = home.path("r");
    let doc = security(&home, &["--machine", root.to_str().unwrap()])
        .exits(1)
        .json();
    assert_eq!(
        of(&doc, "disk-encryption", " /")["verdict"],
        "pass",
        "{doc}"
    );
    assert_eq!(of(&doc, "disk-encryption", " /data")["verdict"], "unknown");
    assert_eq!(one(&doc, "swap-encryption")["verdict"], "fail");
}

#[test]
fn a_pipe_that_nobody_writes_is_refused_and_not_waited_for() {
    let home = Home::new();
    let pipe = |name: &str| {
        let path = home.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let made = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        path.to_str().unwrap().to_owned()
    };
    let fifo = pipe("fifo");
    for args in [
        &["--luks", &fifo][..],
        &["--targets", &fifo],
        &["--endpoint", "https://127.0.0.1:1", "--ca", &fifo],
        &["--profile", "gdpr", "--seen", &format!("gdpr.28.3={fifo}")],
    ] {
        security(&home, args).says(2, &["not a regular file"]);
    }
    security(&home, &["--machine", &fifo]).exits(2);
    pipe("rec/proc/mounts");
    pipe("rec/proc/swaps");
    pipe("rec/lsblk.json");
    let rec = home.path("rec");
    let doc = security(&home, &["--machine", rec.to_str().unwrap()]).json();
    assert_eq!(doc["verdict"], "unknown", "{doc}");
}

#[test]
fn rubbish_instead_of_a_machine_is_no_pass() {
    let home = Home::new();
    for (name, content) in [
        ("empty.json", ""),
        ("list.json", "[1,2]"),
        ("none.json", r#"{"blockdevices":[]}"#),
        (
            "odd.json",
            r#"{"blockdevices":[null,3,{"name":5,"mountpoints":"x","children":{}}]}"#,
        ),
        (
            "no-mounts.json",
            r#"{"blockdevices":[{"name":"sda","type":"disk"}]}"#,
        ),
    ] {
        let file = home.file(name, content);
        let doc = security(&home, &["--machine", &file]).exits(7).json();
        let findings = doc["findings"].as_array().unwrap();
        assert!(
            findings.iter().all(|f| f["verdict"] == "unknown"),
            "{name}: {doc}"
        );
    }
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let file = home.file("deep.json", format!("{{\"blockdevices\":{deep}}}"));
    security(&home, &["--machine", &file]).exits(7);
    let large = home.path("large.json");
    std::fs::File::create(&large)
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    security(&home, &["--machine", large.to_str().unwrap()]).exits(7);
    let empty = home.path("folder");
    std::fs::create_dir_all(&empty).unwrap();
    security(&home, &["--machine", empty.to_str().unwrap()]).exits(7);
    security(
        &home,
        &["--machine", home.path("missing").to_str().unwrap()],
    )
    .exits(2);
}

#[test]
fn a_list_of_swaps_without_its_heading_and_none_in_a_container_are_no_pass() {
    let home = Home::new();
    // the kernel writes a heading where there is no swap too
    home.file("e/proc/swaps", "");
    home.file("e/proc/mounts", "/dev/sda / ext4 rw 0 0\n");
    home.file("c/proc/mounts", "overlay / overlay rw 0 0\n");
    for place in ["e", "c"] {
        let place = home.path(place);
        let doc = security(&home, &["--machine", place.to_str().unwrap()])
            .exits(7)
            .json();
        assert_eq!(one(&doc, "swap-encryption")["verdict"], "unknown", "{doc}");
    }
}

#[test]
fn what_lies_under_a_share_is_a_question() {
    let mounts = "\
22 1 253:1 / / rw - ext4 /dev/mapper/vg-root rw
31 22 0:60 / /share rw - virtiofs share rw
32 22 0:61 / /nfs rw - nfs4 10.0.0.1:/data rw,xprtsec=mtls
";
    let recorded = encrypted("");
    recorded.home.file("m/proc/self/mountinfo", mounts);
    let doc = recorded.look(7);
    assert_eq!(of(&doc, "disk-encryption", " /")["verdict"], "pass");
    for place in [" /share", " /nfs"] {
        let finding = of(&doc, "disk-encryption", place);
        assert_eq!(finding["verdict"], "unknown", "{finding}");
    }
    assert_eq!(of(&doc, "net-mount", " /nfs")["verdict"], "pass");
}

#[test]
fn this_machine_gives_an_answer() {
    let home = Home::new();
    let run = security(&home, &["--machine", "live", "--timeout", "0.3"]);
    assert!([0, 1, 7].contains(&run.code), "{}", run.err);
    let doc = run.json();
    let findings = doc["findings"].as_array().unwrap();
    assert!(
        findings.iter().any(|f| f["rule"] == "disk-encryption"),
        "{doc}"
    );
    assert!(findings.iter().any(|f| f["rule"] == "imds"), "{doc}");
}
