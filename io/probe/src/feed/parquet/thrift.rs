//! Thrift's compact protocol, as far as Parquet's metadata needs it: numbers, text, lists and structures, and skipping what
//! is not asked for. <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>
//!
//! Reads from a slice and allocates nothing by itself. A count is never believed: whoever loops over a list ends with the
//! bytes.

/// Structures within structures; Parquet's metadata has about six.
const DEPTH_MAX: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// The bytes end within a value: with more of them it may be whole.
    Short,
    /// No reading of these bytes makes sense.
    Wrong(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    True,
    False,
    Byte,
    /// 16, 32 or 64 bits: all are written alike.
    Int,
    Double,
    Binary,
    List,
    Map,
    Struct,
}

impl Kind {
    fn of(code: u8) -> Result<Kind, Broken> {
        Ok(match code {
            1 => Kind::True,
            2 => Kind::False,
            3 => Kind::Byte,
            4..=6 => Kind::Int,
            7 => Kind::Double,
            8 => Kind::Binary,
            9 | 10 => Kind::List,
            11 => Kind::Map,
            12 => Kind::Struct,
            _ => return Err(Broken::Wrong("a type that Thrift has not")),
        })
    }
}

/// Bytes, and how far they are read.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    depth: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader {
            rest: bytes,
            depth: 0,
        }
    }

    /// Bytes that are not read yet.
    pub(super) fn left(&self) -> usize {
        self.rest.len()
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Broken> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Broken::Short)?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, Broken> {
        Ok(self.take(1)?[0])
    }

    fn varint(&mut self) -> Result<u64, Broken> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Broken::Wrong("a number longer than 64 bits"))
    }

    pub(super) fn int(&mut self) -> Result<i64, Broken> {
        let zigzag = self.varint()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    pub(super) fn binary(&mut self) -> Result<&'a [u8], Broken> {
        let len = self.varint()?;
        self.take(usize::try_from(len).map_err(|_| Broken::Wrong("a text without end"))?)
    }

    /// Calls `item` for each item of a list until it is at its end.
    pub(super) fn list(
        &mut self,
        mut item: impl FnMut(&mut Self, Kind) -> Result<(), Broken>,
    ) -> Result<(), Broken> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            few => u64::from(few),
        };
        let kind = Kind::of(head & 0x0F)?;
        for _ in 0..count {
            // every item has a byte at least, so that a count without bytes ends here
            if self.rest.is_empty() {
                return Err(Broken::Short);
            }
            item(self, kind)?;
        }
        Ok(())
    }

    /// Calls `field` with the number and kind of each field of a structure; what it leaves alone (false) is skipped.
    pub(super) fn fields(
        &mut self,
        mut field: impl FnMut(&mut Self, i64, Kind) -> Result<bool, Broken>,
    ) -> Result<(), Broken> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Broken::Wrong("structures nested too deep"));
        }
        let mut id = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                self.depth -= 1;
                return Ok(());
            }
            id = match head >> 4 {
                0 => self.int()?,
                step => id.saturating_add(i64::from(step)),
            };
            let kind = Kind::of(head & 0x0F)?;
            if !field(self, id, kind)? {
                self.skip(kind)?;
            }
        }
    }

    fn skip(&mut self, kind: Kind) -> Result<(), Broken> {
        match kind {
            // the value of a field is in its head
            Kind::True | Kind::False => {}
            Kind::Byte => drop(self.byte()?),
            Kind::Int => drop(self.varint()?),
            Kind::Double => drop(self.take(8)?),
            Kind::Binary => drop(self.binary()?),
            Kind::List => self.list(Reader::skip_item)?,
            Kind::Map => {
                let count = self.varint()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                for _ in 0..count {
                    self.skip_item(Kind::of(kinds >> 4)?)?;
                    self.skip_item(Kind::of(kinds & 0x0F)?)?;
                }
            }
            Kind::Struct => self.fields(|_, _, _| Ok(false))?,
        }
        Ok(())
    }

    /// In lists and maps a truth value has a byte of its own, and lists may nest without structures between them.
    fn skip_item(&mut self, kind: Kind) -> Result<(), Broken> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Broken::Wrong("lists nested too deep"));
        }
        match kind {
            Kind::True | Kind::False => drop(self.byte()?),
            other => self.skip(other)?,
        }
        self.depth -= 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_told_and_others_skipped() {
        // 1: int -3, 2: list of two texts, 4: structure with a double, then 70: text
        let bytes = [
            &[0x15, 0x05, 0x19, 0x28, 1, b'a', 2, b'b', b'c', 0x2C, 0x17][..],
            &[0; 8],
            &[0, 0x08, 0x8C, 0x01, 1, b'z', 0, 99],
        ]
        .concat();
        let mut reader = Reader::new(&bytes);
        let (mut int, mut text) = (0, Vec::new());
        reader
            .fields(|r, id, kind| match (id, kind) {
                (1, Kind::Int) => r.int().map(|i| int = i).map(|()| true),
                (70, Kind::Binary) => r.binary().map(|b| text = b.to_vec()).map(|()| true),
                _ => Ok(false),
            })
            .unwrap();
        assert_eq!((int, text.as_slice(), reader.left()), (-3, &b"z"[..], 1));
        for cut in 0..bytes.len() - 1 {
            let ended = Reader::new(&bytes[..cut]).fields(|_, _, _| Ok(false));
            assert_eq!(ended, Err(Broken::Short), "{cut}");
        }
    }

    #[test]
    fn counts_without_bytes_and_towers_of_lists_end() {
        let many = [0x19, 0xF8, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F];
        let ended = Reader::new(&many).fields(|_, _, _| Ok(false));
        assert_eq!(ended, Err(Broken::Short));
        let mut tower = vec![0x19];
        tower.extend([0x19; 5000]);
        let ended = Reader::new(&tower).fields(|_, _, _| Ok(false));
        assert!(matches!(ended, Err(Broken::Wrong(_))));
        let mut tower = Vec::new();
        tower.extend([0x1C; 5000]);
        let ended = Reader::new(&tower).fields(|_, _, _| Ok(false));
        assert!(matches!(ended, Err(Broken::Wrong(_))));
    }
}
