//! Every figure of a report under one roof, for what is asked of all of them: was anything measured, did anything fail.

use super::{
    DiskReading, FeedReading, HostReading, NetReading, ProbeReport, Reading, StreamBandwidth,
};

/// A figure of a report.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// Index of the GPU, of both GPUs, or none.
    pub gpus: [Option<u32>; 2],
    /// `gpu`, `link`, `all_reduce`, `disk`, `feed`, `cpu`, `net`
    pub part: &'static str,
    /// The key in the report.
    pub name: &'static str,
    pub reading: &'a Reading,
    /// It may be 0, as a wait or a share may.
    pub may_be_zero: bool,
}

impl ProbeReport {
    /// All figures that are there.
    pub fn readings(&self) -> Vec<Named<'_>> {
        let mut out = Out(Vec::new());
        for gpu in &self.gpus {
            let of = [Some(gpu.index), None];
            out.add(
                of,
                "gpu",
                "memory_bandwidth_gbs",
                gpu.memory_bandwidth_gbs.as_ref(),
            );
            out.add(of, "gpu", "tensor_tflops", gpu.tensor_tflops.as_ref());
            out.add(
                of,
                "gpu",
                "host_to_device_gbs",
                gpu.host_to_device_gbs.as_ref(),
            );
            out.add(
                of,
                "gpu",
                "device_to_host_gbs",
                gpu.device_to_host_gbs.as_ref(),
            );
        }
        for link in &self.links {
            let of = [Some(link.a), Some(link.b)];
            out.add(of, "link", "gbs", Some(&link.gbs));
        }
        let all = self.all_reduce_bus_gbs.as_ref();
        out.add([None; 2], "all_reduce", "all_reduce_bus_gbs", all);
        self.disk.iter().for_each(|disk| out.disk(disk));
        self.feed.iter().for_each(|feed| out.feed(feed));
        self.host.iter().for_each(|host| out.host(host));
        self.net.iter().for_each(|net| out.net(net));
        out.0
    }

    /// Whether the report holds anything that was found out, be it a figure, a kernel that ran or a port.
    pub fn holds_anything(&self) -> bool {
        let figure = |named: &Named<'_>| matches!(named.reading, Reading::Measured { .. });
        let kernel =
            |gpu: &super::GpuReading| gpu.kernel.as_ref().is_some_and(|k| k.value().is_some());
        self.readings().iter().any(figure)
            || self.gpus.iter().any(kernel)
            || self.fabric.as_ref().is_some_and(|f| !f.ports.is_empty())
    }
}

struct Out<'a>(Vec<Named<'a>>);

impl<'a> Out<'a> {
    fn add(
        &mut self,
        gpus: [Option<u32>; 2],
        part: &'static str,
        name: &'static str,
        reading: Option<&'a Reading>,
    ) {
        if let Some(reading) = reading {
            self.0.push(Named {
                gpus,
                part,
                name,
                reading,
                may_be_zero: false,
            });
        }
    }

    fn zero(&mut self, part: &'static str, name: &'static str, reading: Option<&'a Reading>) {
        self.add([None; 2], part, name, reading);
        if let (Some(last), Some(_)) = (self.0.last_mut(), reading) {
            last.may_be_zero = true;
        }
    }

    fn disk(&mut self, disk: &'a DiskReading) {
        const NO: [Option<u32>; 2] = [None; 2];
        self.add(NO, "disk", "read_gbs", disk.read_gbs.as_ref());
        self.add(NO, "disk", "write_gbs", disk.write_gbs.as_ref());
        self.add(
            NO,
            "disk",
            "random_read_iops",
            disk.random_read_iops.as_ref(),
        );
        let small = disk.small_files_per_second.as_ref();
        self.add(NO, "disk", "small_files_per_second", small);
        for random in &disk.random {
            self.add(NO, "disk", "iops", Some(&random.iops));
        }
        for stream in disk.read.iter().chain(&disk.write) {
            self.add(NO, "disk", "gbs", Some(&stream.gbs));
        }
        if let Some(checkpoint) = &disk.checkpoint {
            self.add(NO, "disk", "checkpoint_gbs", Some(&checkpoint.gbs));
        }
        if let Some(small) = &disk.small {
            self.add(NO, "disk", "per_second", Some(&small.per_second));
        }
    }

    fn feed(&mut self, feed: &'a FeedReading) {
        let supply = Some(&feed.samples_per_second);
        self.add([None; 2], "feed", "samples_per_second", supply);
        self.zero("feed", "utilisation", feed.utilisation.as_ref());
    }

    fn host(&mut self, host: &'a HostReading) {
        const NO: [Option<u32>; 2] = [None; 2];
        self.add(NO, "cpu", "cores", host.cores.as_ref());
        self.add(NO, "cpu", "memory_gib", host.memory_gib.as_ref());
        self.add(NO, "cpu", "stream_gbs", host.stream_gbs.as_ref());
        self.add(NO, "cpu", "ghz", host.ghz.as_ref());
        self.zero("cpu", "steal", host.steal.as_ref());
        for stream in host.stream.iter().chain(&host.stream_one_thread) {
            self.stream(stream);
        }
    }

    fn stream(&mut self, stream: &'a StreamBandwidth) {
        for (name, reading) in [
            ("copy_gbs", &stream.copy_gbs),
            ("scale_gbs", &stream.scale_gbs),
            ("add_gbs", &stream.add_gbs),
            ("triad_gbs", &stream.triad_gbs),
        ] {
            self.add([None; 2], "cpu", name, Some(reading));
        }
    }

    fn net(&mut self, net: &'a NetReading) {
        if let Some(host) = &net.host {
            self.zero("net", "rtt_ms", Some(&host.rtt_ms));
        }
        if let Some(ssh) = &net.ssh {
            self.zero("net", "rtt_ms", Some(&ssh.rtt_ms));
        }
        if let Some(s3) = &net.s3 {
            self.add([None; 2], "net", "put_mbs", Some(&s3.put_mbs));
            self.add([None; 2], "net", "get_mbs", Some(&s3.get_mbs));
        }
    }
}
