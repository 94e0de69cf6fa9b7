//! `accept driver` on screenshots, through the real binary and the real tesseract: terminals drawn with the letters of a
//! font, light and dark, in several sizes, as PNG and as JPEG with noise, and with digits that cannot be true.
//! Peers: tesseract and DejaVu Sans Mono (`testkit/peers.sh screens`).

mod common;

use ab_glyph::{Font, FontVec, ScaleFont, point};
use common::{Home, Run};
use serde_json::Value;
use std::fmt::Write as _;
use std::process::Command;

const FONT: &str = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf";

/// The font, where tesseract is there too.
#[expect(clippy::print_stdout, reason = "a test that does nothing says why")]
fn peers() -> Option<FontVec> {
    let reader = Command::new("tesseract").arg("--version").output();
    let font = std::fs::read(FONT)
        .ok()
        .and_then(|b| FontVec::try_from_vec(b).ok());
    if let (Ok(_), Some(font)) = (reader, font) {
        return Some(font);
    }
    assert!(
        std::env::var_os("CI").is_none(),
        "testkit/peers.sh screens brings tesseract and a font"
    );
    println!("skipped: no tesseract, or no {FONT}");
    None
}

/// A screen of nvidia-smi.
#[derive(Clone)]
struct Screen {
    title: &'static str,
    driver: &'static str,
    cuda: &'static str,
    gpus: Vec<(&'static str, u32)>,
}

fn a100() -> Screen {
    Screen {
        title: "550.54.15",
        driver: "550.54.15",
        cuda: "12.4",
        gpus: vec![("NVIDIA A100-SXM4-80GB", 81920)],
    }
}

impl Screen {
    fn text(&self) -> String {
        let line = format!("+{}+\n", "-".repeat(89));
        let mut text = format!("$ nvidia-smi\n{line}");
        let title = format!(
            " NVIDIA-SMI {:<22} Driver Version: {:<14} CUDA Version: {}",
            self.title, self.driver, self.cuda
        );
        let _ = writeln!(text, "|{title:<89}|");
        text += "|-----------------------------------------+------------------------+----------------------+\n";
        text += "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n";
        text += "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n";
        text += "|                                         |                        |               MIG M. |\n";
        text += "|=========================================+========================+======================|\n";
        for (i, (gpu, mib)) in self.gpus.iter().enumerate() {
            let _ = writeln!(
                text,
                "| {i:>3}  {gpu:<26}      On  |   00000000:{:02X}:00.0 Off |                    0 |",
                i + 4
            );
            let _ = writeln!(
                text,
                "| N/A   34C    P0             60W /  400W |       1MiB / {mib:>6}MiB |      0%      Default |"
            );
            text += "|                                         |                        |             Disabled |\n";
            text += "+-----------------------------------------+------------------------+----------------------+\n";
        }
        let _ = write!(
            text,
            "\n{line}|{:<89}|\n|{}|\n",
            " Processes:",
            "=".repeat(89)
        );
        let _ = writeln!(text, "|{:<89}|", "  No running processes found");
        text + &line
    }
}

/// How a screen is drawn.
#[derive(Clone, Copy, Debug)]
struct Look {
    size: f32,
    dark: bool,
    /// Of 255, at most added to or taken from each pixel.
    noise: u8,
    /// As JPEG of this quality; else PNG.
    jpeg: Option<u8>,
}

const PLAIN: Look = Look {
    size: 16.0,
    dark: true,
    noise: 0,
    jpeg: None,
};

fn drawn(text: &str, font: &FontVec, look: Look) -> Vec<u8> {
    let scaled = font.as_scaled(look.size);
    let column = scaled.h_advance(font.glyph_id('M'));
    let row = (look.size * 1.2).round();
    let longest = text.lines().map(|l| l.chars().count()).max().unwrap_or(1);
    let (width, height) = (
        (column * longest as f32) as usize + 20,
        row as usize * text.lines().count() + 20,
    );
    let (ground, ink) = if look.dark {
        (30.0, 215.0)
    } else {
        (250.0, 15.0)
    };
    let mut pixels = vec![ground; width * height];
    for (y, line) in text.lines().enumerate() {
        for (x, c) in line.chars().enumerate() {
            let at = point(
                10.0 + column * x as f32,
                10.0 + row * y as f32 + scaled.ascent(),
            );
            let glyph = font.glyph_id(c).with_scale_and_position(look.size, at);
            let Some(outline) = font.outline_glyph(glyph) else {
                continue;
            };
            let corner = outline.px_bounds().min;
            outline.draw(|dx, dy, share| {
                let (px, py) = (
                    corner.x as usize + dx as usize,
                    corner.y as usize + dy as usize,
                );
                if let Some(p) = pixels.get_mut(py * width + px) {
                    *p += (ink - *p) * share.min(1.0);
                }
            });
        }
    }
    let mut state = 7u32;
    let bytes: Vec<u8> = pixels
        .iter()
        .map(|p| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let swing = (state >> 16) as f32 / 65_535.0 * 2.0 - 1.0;
            (p + swing * f32::from(look.noise)).clamp(0.0, 255.0) as u8
        })
        .collect();
    let mut out = Vec::new();
    let (w, h) = (width as u32, height as u32);
    match look.jpeg {
        Some(quality) => jpeg_encoder::Encoder::new(&mut out, quality)
            .encode(&bytes, w as u16, h as u16, jpeg_encoder::ColorType::Luma)
            .expect("JPEG"),
        None => {
            let mut encoder = png::Encoder::new(&mut out, w, h);
            encoder.set_color(png::ColorType::Grayscale);
            let mut writer = encoder.write_header().expect("PNG");
            writer.write_image_data(&bytes).expect("PNG");
            writer.finish().expect("PNG");
        }
    }
    out
}

/// The tests' homes have no PATH, and so no tesseract.
fn accept(home: &Home, args: &[&str]) -> Run {
    let mut command = home.command(&[&["accept", "driver"], args, &["-o", "json"]].concat());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    Run::of(command)
}

fn judged(home: &Home, screen: &Screen, font: &FontVec, look: Look) -> (i32, Value) {
    let name = if look.jpeg.is_some() {
        "shot.jpg"
    } else {
        "shot.png"
    };
    // the content decides, not the name
    let file = home.file(&format!("{name}.txt"), drawn(&screen.text(), font, look));
    let run = accept(home, &[&file, "--need", "torch==2.6.0"]);
    (run.code, run.json())
}

fn screenshot<'a>(doc: &'a Value, subject: &str) -> Option<&'a Value> {
    let findings = doc["findings"].as_array().expect("findings");
    findings
        .iter()
        .find(|f| f["rule"] == "screenshot" && f["subject"] == subject)
}

#[test]
fn clear_screens_are_read_in_each_theme_and_size() {
    let Some(font) = peers() else { return };
    let home = &Home::new();
    let screen = Screen {
        gpus: vec![("NVIDIA A100-SXM4-80GB", 81920); 2],
        ..a100()
    };
    for size in [16.0, 24.0] {
        for dark in [true, false] {
            let look = Look {
                size,
                dark,
                ..PLAIN
            };
            let (code, doc) = judged(home, &screen, &font, look);
            assert_eq!(code, 0, "{look:?}: {doc:#}");
            assert_eq!(doc["machine"]["driver"], "550.54.15", "{look:?}");
            assert_eq!(doc["machine"]["gpus"][0]["name"], "NVIDIA A100-SXM4-80GB");
            assert_eq!(doc["machine"]["gpus"][0]["count"], 2);
            assert_eq!(doc["evidence"][0]["kind"], "screenshot");
            assert!(screenshot(&doc, "screen").is_some(), "{doc:#}");
        }
    }
}

#[test]
fn poor_screens_are_read_right_or_asked_about() {
    let Some(font) = peers() else { return };
    let home = &Home::new();
    let mut passed = 0;
    for (size, noise, quality) in [
        (16.0, 0, 80),
        (16.0, 30, 40),
        (12.0, 10, 30),
        (9.0, 20, 25),
        (7.0, 0, 80),
    ] {
        let look = Look {
            size,
            noise,
            dark: quality % 20 == 0,
            jpeg: Some(quality),
        };
        let (code, doc) = judged(home, &a100(), &font, look);
        assert!([0, 7].contains(&code), "{look:?}: {doc:#}");
        if code == 0 {
            passed += 1;
            assert_eq!(doc["machine"]["driver"], "550.54.15", "{look:?}");
            assert_eq!(doc["machine"]["printed_cuda"], "12.4", "{look:?}");
            assert_eq!(doc["machine"]["gpus"][0]["name"], "NVIDIA A100-SXM4-80GB");
            assert_eq!(doc["machine"]["gpus"][0]["count"], 1, "{look:?}");
        } else {
            assert_eq!(
                doc["findings"]
                    .as_array()
                    .expect("findings")
                    .iter()
                    .filter(|f| f["verdict"] == "pass")
                    .count(),
                0
            );
        }
    }
    // a check that asks about every picture would be of no use
    assert!(passed >= 1, "not even the best of them is read");
}

#[test]
fn digits_that_cannot_be_true_become_questions() {
    let Some(font) = peers() else { return };
    let home = &Home::new();
    let good = a100();
    let cases = [
        (
            "driver",
            Screen {
                driver: "560.54.15",
                ..good.clone()
            },
        ),
        (
            "driver",
            Screen {
                title: "550.54.16",
                ..good.clone()
            },
        ),
        (
            "CUDA",
            Screen {
                cuda: "12.8",
                ..good.clone()
            },
        ),
        (
            "CUDA",
            Screen {
                title: "535.183.01",
                driver: "535.183.01",
                ..good.clone()
            },
        ),
        (
            "driver",
            Screen {
                title: "750.54.15",
                driver: "750.54.15",
                ..good.clone()
            },
        ),
        (
            "GPU 1",
            Screen {
                gpus: vec![
                    ("NVIDIA A100-SXM4-80GB", 81920),
                    ("NVIDIA A100-SXM4-80GB", 61920),
                ],
                ..good.clone()
            },
        ),
        (
            "GPU 0",
            Screen {
                gpus: vec![("NVIDIA A100-SXM4-80GB", 40960)],
                ..good.clone()
            },
        ),
        (
            "GPU 0",
            Screen {
                gpus: vec![("NVIDIA A700-SXM4-80GB", 81920)],
                ..good.clone()
            },
        ),
        (
            "GPU 0",
            Screen {
                gpus: vec![("NVIDIA H100 80GB HBM3", 81920 / 2)],
                ..good.clone()
            },
        ),
    ];
    for (field, screen) in cases {
        let (code, doc) = judged(home, &screen, &font, PLAIN);
        assert_eq!(code, 7, "{field}: {doc:#}");
        let doubt =
            screenshot(&doc, field).unwrap_or_else(|| panic!("no doubt about {field}: {doc:#}"));
        assert_eq!(doubt["verdict"], "unknown");
        assert!(
            doubt["ask"].as_str().is_some_and(|a| a.contains("as text")),
            "{doubt}"
        );
        let need = doc["findings"]
            .as_array()
            .expect("findings")
            .iter()
            .find(|f| f["rule"] == "need");
        assert_eq!(need.expect("the need")["verdict"], "unknown", "{field}");
    }
}

#[test]
fn half_a_screen_and_other_pictures_are_asked_about() {
    let Some(font) = peers() else { return };
    let home = &Home::new();
    let whole = a100().text();
    let half: String = whole.lines().take(12).map(|l| format!("{l}\n")).collect();
    let file = home.file("half.png", drawn(&half, &font, PLAIN));
    let doc = accept(home, &[&file, "--need", "torch==2.6.0"])
        .exits(7)
        .json();
    assert!(screenshot(&doc, "screen").is_some(), "{doc:#}");
    let rowless: String = whole
        .lines()
        .enumerate()
        .filter(|(at, _)| *at != 9)
        .map(|(_, l)| format!("{l}\n"))
        .collect();
    let file = home.file("rowless.png", drawn(&rowless, &font, PLAIN));
    let doc = accept(home, &[&file]).exits(7).json();
    assert!(screenshot(&doc, "GPUs").is_some(), "{doc:#}");
    let good = drawn(&whole, &font, PLAIN);
    for (name, bytes) in [
        (
            "other.png",
            drawn("root@node:~# ls\nREADME.md  train.py\n", &font, PLAIN),
        ),
        ("empty.png", drawn("\n\n\n", &font, PLAIN)),
        ("cut.png", good[..good.len() / 2].to_vec()),
        ("head.png", good[..8].to_vec()),
        ("head.jpg", vec![0xff, 0xd8, 0xff, 0xe0]),
    ] {
        let file = home.file(name, bytes);
        let run = accept(home, &[&file, "--need", "torch==2.6.0"]).exits(7);
        assert!(
            run.json()["findings"][0]["ask"].is_string(),
            "{name}: {}",
            run.out
        );
    }
}

#[test]
fn a_picture_of_enormous_size_is_not_decoded() {
    let home = &Home::new();
    // a header of 60000 x 60000 pixels and hardly any data
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, 60_000, 60_000);
    encoder.set_color(png::ColorType::Rgba);
    let mut writer = encoder.write_header().expect("PNG");
    let _ = writer.write_chunk(png::chunk::IDAT, &[0x78, 0x9c, 3, 0, 0, 0, 0, 1]);
    let _ = writer.finish();
    let file = home.file("large.png", out);
    let doc = accept(home, &[&file, "--need", "torch"]).exits(7).json();
    assert_eq!(doc["verdict"], "unknown");
}

#[test]
fn without_tesseract_a_screenshot_is_asked_about() {
    let home = &Home::new();
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, 64, 64);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().expect("PNG");
    writer.write_image_data(&[255; 64 * 64]).expect("PNG");
    writer.finish().expect("PNG");
    let file = home.file("shot.png", out);
    // no PATH: no program
    let mut command = home.command(&["accept", "driver", &file, "--need", "torch", "-o", "json"]);
    command.env("PATH", home.text());
    let doc = Run::of(command).exits(7).json();
    assert_eq!(doc["findings"][0]["code"], "screen_no_reader");
    assert!(doc["findings"][0]["ask"].is_string());
}
