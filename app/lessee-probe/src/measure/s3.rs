//! `--s3`: throughput to a bucket, where the binary was built with it. `lessee-probe`, which is to stay small, is not.

use crate::{MeasureArgs, ProbeFailure, World};
use lessee_model::Msg;
use lessee_model::probe::S3Reading;
use lessee_probe_io::step::Conduct;

#[cfg(feature = "s3")]
pub(super) use with::{Bucket, bucket, measured};
#[cfg(not(feature = "s3"))]
pub(super) use without::{Bucket, bucket, measured};

/// What was measured, and what went wrong first.
pub(super) type Made = (S3Reading, Option<Msg>);

#[cfg(feature = "s3")]
mod with {
    use super::*;
    use lessee_model::Explain;
    use lessee_model::probe::Reading;
    use lessee_objects::throughput::{self, Options, Rate, Throughput};
    use lessee_objects::{Credentials, ObjectError, Target};
    use lessee_probe_io::step::Progress;

    /// Side by side: what the AWS tools do at least, and enough to fill a fast network from a distance.
    const STREAMS: usize = 8;

    pub(in crate::measure) struct Bucket {
        target: Target,
        credentials: Credentials,
    }

    /// The bucket that was named, and who may use it; before anything is measured.
    pub(in crate::measure) fn bucket(
        args: &MeasureArgs,
        world: &World<'_>,
    ) -> Result<Option<Bucket>, ProbeFailure> {
        let Some(named) = &args.s3 else {
            return Ok(None);
        };
        let found = Credentials::find(world.env, world.home.as_deref());
        let found = found.map_err(ProbeFailure::Objects)?;
        let endpoint = args.s3_endpoint.as_deref().or(found.endpoint.as_deref());
        let target = Target::parse(named, endpoint, &found.region);
        Ok(Some(Bucket {
            target: target.map_err(ProbeFailure::Objects)?,
            credentials: found.credentials,
        }))
    }

    pub(in crate::measure) fn measured(
        bucket: &Bucket,
        seconds: f64,
        conduct: &Conduct<'_>,
    ) -> Made {
        let tell = |done| {
            (conduct.tell)(Progress {
                step: "net.s3",
                done,
            });
        };
        let options = Options {
            seconds,
            streams: STREAMS,
            stop: conduct.stop,
            tell: &tell,
        };
        let target = &bucket.target;
        let made = throughput::measure(target, &bucket.credentials, &options);
        let made = made.unwrap_or_else(Throughput::failed);
        let reading = S3Reading {
            endpoint: target.endpoint().to_owned(),
            bucket: target.bucket().to_owned(),
            region: target.region().to_owned(),
            streams: STREAMS,
            put_mbs: of(&made.put),
            put_parallel_mbs: of(&made.put_parallel),
            get_mbs: of(&made.get),
            get_parallel_mbs: of(&made.get_parallel),
            bytes_sent: made.bytes_sent,
            bytes_received: made.bytes_received,
            left_behind: made.left_behind.clone(),
        };
        (reading, made.failure().map(explained))
    }

    /// With the most likely remedy.
    fn explained(error: &ObjectError) -> Msg {
        match error.hints().into_iter().next() {
            Some(hint) => Msg::new("objects-said")
                .arg("what", error.msg())
                .arg("hint", hint),
            None => error.msg(),
        }
    }

    fn of(rate: &Rate) -> Reading {
        match rate {
            Rate::Measured { value, samples } => Reading::Measured {
                value: *value,
                samples: samples.clone(),
            },
            Rate::Unknown(why) => Reading::Unknown {
                reason: (*why).to_owned(),
            },
            Rate::Failed(error) => Reading::Failed {
                reason: format!("{}: {error}", error.code()),
            },
        }
    }
}

#[cfg(not(feature = "s3"))]
mod without {
    use super::*;

    /// There is none.
    pub(in crate::measure) enum Bucket {}

    pub(in crate::measure) fn bucket(
        args: &MeasureArgs,
        _: &World<'_>,
    ) -> Result<Option<Bucket>, ProbeFailure> {
        match args.s3 {
            Some(_) => Err(ProbeFailure::NoS3),
            None => Ok(None),
        }
    }

    pub(in crate::measure) fn measured(bucket: &Bucket, _: f64, _: &Conduct<'_>) -> Made {
        match *bucket {}
    }
}
