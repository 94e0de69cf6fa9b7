//! A network of one's own: an office and machines far away, each in a network namespace, joined by links that delay and lose.
//!
//! It is: two TUN devices a link and threads that carry packets between them through a queue in time; it counts what it
//! drops. It is not: `netem`, which many machines lack, nor a model of a real path (no jitter, no limit of bandwidth, no
//! reordering). Start at [`Office`]; [`here`] says whether this machine lets it be built.

mod carry;
mod net;
mod packet;
mod sys;

pub use carry::{Drops, Link, Shape};
pub use net::{Here, Net, here};
pub use packet::{Class, Counts, Tally};

use std::io;
use std::net::Ipv4Addr;

/// The near end of all links.
#[derive(Debug)]
pub struct Office {
    pub net: Net,
    links: u8,
}

impl Office {
    /// An empty network, without a way out.
    ///
    /// # Errors
    /// What [`here`] says.
    pub fn new() -> io::Result<Office> {
        let net = Net::new()?;
        // unprivileged ping is a right of groups, and every namespace begins without; group 0 is that of whoever may build one
        net.set("net/ipv4/ping_group_range", "0 0")?;
        Ok(Office { net, links: 0 })
    }

    /// One more machine, at [`Link::address`].
    ///
    /// # Errors
    /// The system's own.
    pub fn link(&mut self, shape: Shape) -> io::Result<Link> {
        self.links += 1;
        let near = Ipv4Addr::new(10, 77, self.links, 1);
        let far = Ipv4Addr::new(10, 77, self.links, 2);
        Link::new(&self.net, near, far, shape)
    }
}
