//! What a packet is, as far as a link must know: which of those that are counted.

use std::sync::atomic::{AtomicU64, Ordering};

/// Kinds of packets that a link tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Asks for a TCP connection.
    Syn,
    /// Grants it.
    SynAck,
    EchoRequest,
    EchoReply,
    Other,
}

impl Class {
    pub const ALL: [Class; 5] = [
        Class::Syn,
        Class::SynAck,
        Class::EchoRequest,
        Class::EchoReply,
        Class::Other,
    ];

    /// Of an IPv4 packet; all else is [`Class::Other`].
    pub fn of(packet: &[u8]) -> Class {
        let Some(first) = packet.first().filter(|b| **b >> 4 == 4) else {
            return Class::Other;
        };
        let header = usize::from(first & 15) * 4;
        match packet.get(9) {
            Some(6) => match packet.get(header + 13).map(|flags| flags & 0x17) {
                Some(0x02) => Class::Syn,
                Some(0x12) => Class::SynAck,
                _ => Class::Other,
            },
            Some(1) => match packet.get(header) {
                Some(8) => Class::EchoRequest,
                Some(0) => Class::EchoReply,
                _ => Class::Other,
            },
            _ => Class::Other,
        }
    }
}

/// What a link has carried and dropped.
#[derive(Debug, Default)]
pub struct Counts([(AtomicU64, AtomicU64); 5]);

/// Of one kind of packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    pub seen: u64,
    pub dropped: u64,
}

impl Counts {
    pub fn of(&self, class: Class) -> Tally {
        let (seen, dropped) = &self.0[class as usize];
        Tally {
            seen: seen.load(Ordering::SeqCst),
            dropped: dropped.load(Ordering::SeqCst),
        }
    }

    /// How many of this kind were seen before.
    pub(crate) fn see(&self, class: Class) -> u64 {
        self.0[class as usize].0.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn lose(&self, class: Class) {
        self.0[class as usize].1.fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_any_shape_have_a_class() {
        let mut tcp = vec![0x45; 1];
        tcp.resize(40, 0);
        tcp[9] = 6;
        tcp[33] = 0x02;
        assert_eq!(Class::of(&tcp), Class::Syn);
        tcp[33] = 0x12;
        assert_eq!(Class::of(&tcp), Class::SynAck);
        tcp[33] = 0x10;
        assert_eq!(Class::of(&tcp), Class::Other);
        tcp[9] = 1;
        tcp[20] = 8;
        assert_eq!(Class::of(&tcp), Class::EchoRequest);
        for cut in 0..20 {
            assert_eq!(Class::of(&tcp[..cut]), Class::Other);
        }
        assert_eq!(Class::of(&[0x60; 48]), Class::Other);
    }
}
