//! Records become markets: one a record, or with `--zones` one of all, each with its start ticks.

use super::failures;
use super::job::AskedJob;
use crate::args::SimulateArgs;
use crate::commands::trace;
use lessee_console::Failure;
use lessee_console::Settings;
use lessee_model::Msg;
use lessee_report::Texts;
use lessee_report::simulate::{NoteDoc, SimulatedMarket, grid_note};
use lessee_spot::stats::resampled;
use lessee_spot::trace::{PricePath, Record, Series};
use lessee_spot::{Grid, GridError, check_window, market_of};
use lessee_traces::Folder;

/// Starts on one market where none are asked for: enough for a 5th and a 95th percentile.
const STARTS: usize = 200;

/// Ticks of all histories that are drawn together.
const MOST_DRAWN: usize = 50_000_000;
/// Of the draw: the same question has the same answer.
const SEED: u64 = 1;

pub(super) fn read(
    args: &SimulateArgs,
    asked: &AskedJob,
    settings: &Settings,
    texts: &Texts,
    notes: &mut Vec<NoteDoc>,
) -> Result<Vec<SimulatedMarket>, Failure> {
    let store = trace::store(settings);
    let mut opened = Vec::new();
    for argument in &args.trace {
        let folder = trace::open(argument, &args.reading, &store)?;
        opened.push((argument.display().to_string(), folder));
    }
    let prices_given = asked.spot_price.is_some() && asked.on_demand_price.is_some();
    for read in opened.iter().flat_map(|(_, f)| &f.reads) {
        let told = read.remarks.iter().filter(|r| {
            // a price that is not used needs no remark
            !(prices_given && r.code == "price_of_machine")
        });
        notes.extend(told.map(|r| NoteDoc {
            code: r.code.to_string(),
            trace: read.file.clone(),
            zone: r.zone.clone(),
            text: texts.msg(&r.msg),
        }));
    }
    let records = || opened.iter().flat_map(|(_, f)| records(f));
    let paths: Vec<&PricePath> = records()
        .filter_map(|r| match r {
            Record::Prices(path) => Some(path),
            _ => None,
        })
        .collect();
    let labelled = labelled(&opened)?;
    if let Some(machine) = &asked.machine {
        told_machines(machine, &labelled, texts, notes);
    }
    let groups: Vec<(String, Vec<&Series>)> = if args.zones {
        let names: Vec<&str> = opened.iter().map(|(name, _)| name.as_str()).collect();
        let all = labelled.into_iter().map(|(_, s)| s).collect();
        vec![(names.join(","), all)]
    } else {
        labelled.into_iter().map(|(l, s)| (l, vec![s])).collect()
    };
    let mut markets = Vec::new();
    for (label, series) in groups {
        let mut grid = market_of(&series, &paths, asked.of_market())
            .map_err(|e| failures::grid(&e, &label, None))?;
        let ms_per_gb = args.transfer_seconds * 1000.0;
        grid.market = grid.market.with_transfer(args.transfer_price, ms_per_gb);
        notes.extend(grid.notes.iter().map(|n| grid_note(n, &label, texts)));
        asked
            .job
            .check_feasible(grid.market.gap_ms)
            .map_err(|e| failures::job(&e))?;
        let market = match args.resample {
            None => starts(label, grid, &args.start_tick, asked, texts, notes)?,
            Some(n) => drawn(
                label,
                grid,
                n as usize,
                args.block_hours,
                asked,
                texts,
                notes,
            )?,
        };
        ticks_told(&market, asked, texts, notes);
        markets.push(market);
    }
    if !args.zones {
        told_copies(&opened, texts, notes);
    }
    let mut seen: Vec<NoteDoc> = Vec::new();
    for note in notes.drain(..) {
        if !seen.contains(&note) {
            seen.push(note);
        }
    }
    *notes = seen;
    Ok(markets)
}

fn records(folder: &Folder) -> impl Iterator<Item = &Record> {
    folder.reads.iter().flat_map(|r| &r.records)
}

/// Each series with the name it has in the answer: as typed, where that names it alone.
fn labelled(opened: &[(String, Folder)]) -> Result<Vec<(String, &Series)>, Failure> {
    let mut out = Vec::new();
    for (typed, folder) in opened {
        let series: Vec<&Series> = folder.reads.iter().flat_map(|r| r.series()).collect();
        match series.as_slice() {
            [] if records(folder).any(|r| matches!(r, Record::Prices(_))) => {}
            [] => {
                let none = Msg::new("simulate-no-series").arg("file", typed.clone());
                return Err(Failure::usage(none).hint(Msg::new("hint-simulate-no-series")));
            }
            [only] => out.push((typed.clone(), *only)),
            several => out.extend(several.iter().map(|s| (s.about.source.clone(), *s))),
        }
    }
    if out.is_empty() {
        return Err(failures::grid(&GridError::NoSeries, "", None));
    }
    Ok(out)
}

/// Records of one machine are replayed for another: nobody can check that by the names alone.
fn told_machines(
    machine: &str,
    labelled: &[(String, &Series)],
    texts: &Texts,
    notes: &mut Vec<NoteDoc>,
) {
    let mut recorded: Vec<&str> = labelled
        .iter()
        .filter_map(|(_, s)| s.about.machine.as_deref())
        .collect();
    recorded.sort_unstable();
    recorded.dedup();
    if recorded.is_empty() {
        return;
    }
    let msg = Msg::new("simulate-record-of")
        .arg("recorded", recorded.join(", "))
        .arg("machine", machine.to_owned());
    notes.push(NoteDoc {
        code: "record_of_machine".to_owned(),
        trace: String::new(),
        zone: String::new(),
        text: texts.msg(&msg),
    });
}

/// The same recording as two jobs counts twice in every figure.
fn told_copies(opened: &[(String, Folder)], texts: &Texts, notes: &mut Vec<NoteDoc>) {
    let all: Vec<&Series> = opened
        .iter()
        .flat_map(|(_, f)| &f.reads)
        .flat_map(|r| r.series())
        .collect();
    for group in lessee_spot::stats::duplicates(&all) {
        let names: Vec<&str> = group
            .iter()
            .map(|i| all[*i].about.source.as_str())
            .collect();
        let msg = Msg::new("simulate-copies").arg("zones", names.join(", "));
        notes.push(NoteDoc {
            code: "identical_zones".to_owned(),
            trace: String::new(),
            zone: String::new(),
            text: texts.msg(&msg),
        });
    }
}

/// The starts asked for, or as many as fit at an even stride.
fn starts(
    label: String,
    grid: Grid,
    typed: &[usize],
    asked: &AskedJob,
    texts: &Texts,
    notes: &mut Vec<NoteDoc>,
) -> Result<SimulatedMarket, Failure> {
    let market = &grid.market;
    let (mut starts, mut stride, mut left_out, mut with_holes) = (Vec::new(), None, 0, 0);
    let mut why = None;
    let need = (asked.job.deadline_ms / market.gap_ms) as usize;
    let candidates: Vec<usize> = if typed.is_empty() {
        let last = market.ticks().saturating_sub(need);
        let step = (last + 1).div_ceil(STARTS).max(1);
        stride = Some(step);
        (0..=last).step_by(step).collect()
    } else {
        typed.to_vec()
    };
    for start in candidates {
        match check_window(market, start, &asked.job) {
            Ok(window) => {
                starts.push(start);
                with_holes += usize::from(window.unknown > 0);
            }
            Err(GridError::NoPriceAt { .. }) if stride.is_some() => {
                left_out += 1;
                why = why.or(check_window(market, start, &asked.job).err());
            }
            Err(e) => return Err(failures::grid(&e, &label, grid.start)),
        }
    }
    if let (true, Some(why)) = (starts.is_empty(), &why) {
        return Err(failures::grid(why, &label, grid.start));
    }
    let mut tell = |code: &str, msg: Msg| {
        notes.push(NoteDoc {
            code: code.to_owned(),
            trace: label.clone(),
            zone: String::new(),
            text: texts.msg(&msg),
        });
    };
    if let Some(step) = stride {
        let msg = Msg::new("simulate-starts")
            .arg("n", starts.len())
            .arg("stride", step)
            .seconds("tick", market.gap_ms as f64 / 1000.0);
        tell("starts_chosen", msg);
    }
    if left_out > 0 {
        let msg = Msg::new("simulate-starts-left-out").arg("n", left_out as f64);
        tell("starts_without_price", msg);
    }
    if with_holes > 0 {
        let msg = Msg::new("simulate-windows-with-holes")
            .arg("n", with_holes as f64)
            .arg("all", starts.len());
        tell("window_touches_hole", msg);
    }
    Ok(SimulatedMarket {
        trace: label,
        grid,
        starts,
        stride,
    })
}

/// One start on each of `n` histories drawn from the record.
fn drawn(
    label: String,
    mut grid: Grid,
    n: usize,
    block_hours: f64,
    asked: &AskedJob,
    texts: &Texts,
    notes: &mut Vec<NoteDoc>,
) -> Result<SimulatedMarket, Failure> {
    let recorded = &grid.market;
    let gap = recorded.gap_ms;
    let need = (asked.job.deadline_ms / gap) as usize;
    // a job that is late goes on for a start's time
    let each = need + (asked.job.overhead_ms / gap + 2) as usize;
    if n.saturating_mul(each) > MOST_DRAWN {
        let msg = Msg::new("simulate-drawn-too-many").arg("n", MOST_DRAWN / each.max(1));
        return Err(Failure::usage(msg));
    }
    // what is drawn must have been recorded for long enough to hold one
    check_window(recorded, 0, &asked.job).map_err(|e| failures::grid(&e, &label, grid.start))?;
    let block = ((block_hours * 3_600_000.0 / gap as f64).round() as usize).max(1);
    grid.market = resampled(recorded, n, each, block.min(recorded.ticks()), SEED);
    let starts: Vec<usize> = (0..n).map(|i| i * each).collect();
    for start in &starts {
        check_window(&grid.market, *start, &asked.job)
            .map_err(|e| failures::grid(&e, &label, grid.start))?;
    }
    let msg = Msg::new("simulate-drawn")
        .arg("n", n)
        .seconds("block", block as f64 * gap as f64 / 1000.0);
    notes.push(NoteDoc {
        code: "drawn_from_record".to_owned(),
        trace: label.clone(),
        zone: String::new(),
        text: texts.msg(&msg),
    });
    Ok(SimulatedMarket {
        trace: label,
        grid,
        starts,
        stride: None,
    })
}

/// Hours that are no whole ticks.
fn ticks_told(market: &SimulatedMarket, asked: &AskedJob, texts: &Texts, notes: &mut Vec<NoteDoc>) {
    let gap = market.grid.market.gap_ms;
    let tick = gap as f64 / 1000.0;
    let mut tell = |code: &str, msg: Msg| {
        notes.push(NoteDoc {
            code: code.to_owned(),
            trace: market.trace.clone(),
            zone: String::new(),
            text: texts.msg(&msg),
        });
    };
    let rest = asked.job.overhead_ms % gap;
    if rest != 0 {
        let overhead = asked.job.overhead_ms as f64 / 1000.0;
        let msg = Msg::new("simulate-overhead-ticks")
            .seconds("overhead", overhead)
            .seconds("tick", tick);
        tell("overhead_not_whole_ticks", msg);
    }
    if asked.job.deadline_ms % gap != 0 {
        let whole = (asked.job.deadline_ms / gap * gap) as f64 / 1000.0;
        let msg = Msg::new("simulate-deadline-ticks")
            .seconds("whole", whole)
            .seconds("tick", tick);
        tell("deadline_not_whole_ticks", msg);
    }
}
