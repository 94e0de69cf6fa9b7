//! Servers that do what no server should: garbage, no end, silence, a gigabyte.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// What a server does with each connection.
#[derive(Clone, Debug)]
pub enum Habit {
    Closes,
    /// Says nothing and keeps the connection.
    Silent,
    /// Says these bytes, then closes.
    Says(Vec<u8>),
    /// Says these bytes over and over, a gigabyte of them.
    Floods(Vec<u8>),
    /// Says these bytes, one each 50 ms, without end.
    Drips(Vec<u8>),
}

const GIGABYTE: usize = 1 << 30;
/// Beyond any patience of a test.
const LONG: Duration = Duration::from_secs(120);

/// Its port. It runs until the test program ends.
///
/// # Panics
/// There is no free port.
pub fn hostile(habit: Habit) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let habit = habit.clone();
            std::thread::spawn(move || behave(stream, &habit));
        }
    });
    port
}

fn behave(mut stream: TcpStream, habit: &Habit) {
    let mut asked = [0; 4096];
    match habit {
        Habit::Closes => {}
        Habit::Silent => std::thread::sleep(LONG),
        Habit::Says(bytes) => {
            let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
            let _ = stream.read(&mut asked);
            let _ = stream.write_all(bytes);
        }
        Habit::Floods(bytes) => {
            let piece = bytes.repeat((64 << 10) / bytes.len().max(1) + 1);
            let mut sent = 0;
            while sent < GIGABYTE && stream.write_all(&piece).is_ok() {
                sent += piece.len();
            }
        }
        Habit::Drips(bytes) => {
            for byte in bytes.iter().cycle() {
                if stream.write_all(&[*byte]).is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }
}
