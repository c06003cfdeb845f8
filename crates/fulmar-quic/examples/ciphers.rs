//! Measures the cost of sealing and of opening the datagrams of a copy, by the same code that QUIC calls: the
//! table of docs/decisions/018-no-none-cipher.md.
//!
//! `cargo run --release -p fulmar-quic --example ciphers`, on one core that has nothing else to do.

use std::hint::black_box;
use std::time::{Duration, Instant};

use rustls::SupportedCipherSuite;
use rustls::crypto::ring::cipher_suite::{
    TLS13_AES_128_GCM_SHA256, TLS13_AES_256_GCM_SHA384, TLS13_CHACHA20_POLY1305_SHA256,
};
use rustls::quic::{DirectionalKeys, Version};
use rustls::{Error, Side};

/// The bytes that one datagram carries over Ethernet: 1500 bytes less the headers of IPv6 and UDP.
const DATAGRAM: usize = 1500 - 40 - 8;

/// First byte, id of the connection, packet number.
const HEADER: usize = 1 + 8 + NUMBER;
const NUMBER: usize = 2;

/// The bytes of the tag, which proves that nobody has changed the datagram. Source: RFC 9001 §5.3.
const TAG: usize = 16;

const PAYLOAD: usize = DATAGRAM - HEADER - TAG;

/// The offset of the sample that hides the header, and its bytes. Source: RFC 9001 §5.4.2.
const SAMPLE_AT: usize = HEADER - NUMBER + 4;
const SAMPLE: usize = 16;

/// Datagrams that are handled one after the other: as many as one call of the system takes.
const BATCH: usize = 40;

/// Batches in a run: 200 MB.
const BATCHES: u64 = 200_000_000 / (BATCH * PAYLOAD) as u64;

/// Runs; the median of them counts.
const RUNS: usize = 11;

/// The time of one run at the sending and at the receiving end.
type Run = (Duration, Duration);

fn main() -> Result<(), Error> {
    println!("| cipher | sealing, s/GB | opening, s/GB |\n|---|---|---|");
    print("none: the bytes are copied", copy)?;
    for (name, suite) in [
        ("TLS_AES_128_GCM_SHA256", TLS13_AES_128_GCM_SHA256),
        ("TLS_AES_256_GCM_SHA384", TLS13_AES_256_GCM_SHA384),
        (
            "TLS_CHACHA20_POLY1305_SHA256",
            TLS13_CHACHA20_POLY1305_SHA256,
        ),
    ] {
        print(name, || seal_and_open(suite))?;
    }
    Ok(())
}

fn print(name: &str, run: impl Fn() -> Result<Run, Error>) -> Result<(), Error> {
    let runs = (0..RUNS).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
    let sealing = median(runs.iter().map(|(sealing, _)| *sealing));
    let opening = median(runs.iter().map(|(_, opening)| *opening));
    println!("| {name} | {sealing:.3} | {opening:.3} |");
    Ok(())
}

/// Seconds for 10^9 bytes of payload.
fn median(times: impl Iterator<Item = Duration>) -> f64 {
    let mut times: Vec<Duration> = times.collect();
    times.sort_unstable();
    let bytes = BATCHES as f64 * (BATCH * PAYLOAD) as f64;
    times[times.len() / 2].as_secs_f64() / bytes * 1e9
}

fn timed<T>(total: &mut Duration, work: impl FnOnce() -> T) -> T {
    #[expect(clippy::disallowed_methods, reason = "a clock is what this is about")]
    let now = Instant::now;
    let begun = now();
    let done = work();
    *total += now() - begun;
    done
}

/// Measures the work of both ends without any cipher, and with one besides.
fn copy() -> Result<Run, Error> {
    let sent = vec![7_u8; BATCH * PAYLOAD];
    let mut datagrams = vec![0_u8; BATCH * DATAGRAM];
    let mut received = vec![0_u8; BATCH * PAYLOAD];
    let mut run = Run::default();
    for _ in 0..BATCHES {
        timed(&mut run.0, || {
            let places = datagrams.chunks_mut(DATAGRAM);
            for (place, bytes) in places.zip(black_box(&sent).chunks(PAYLOAD)) {
                place[HEADER..][..PAYLOAD].copy_from_slice(bytes);
            }
        });
        timed(&mut run.1, || {
            let places = received.chunks_mut(PAYLOAD);
            for (place, datagram) in places.zip(black_box(&datagrams).chunks(DATAGRAM)) {
                place.copy_from_slice(&datagram[HEADER..][..PAYLOAD]);
            }
        });
        black_box(&received);
    }
    Ok(run)
}

fn seal_and_open(suite: SupportedCipherSuite) -> Result<Run, Error> {
    let suite = suite.tls13().and_then(|suite| suite.quic_suite());
    let suite = suite.ok_or_else(|| Error::General("it is no suite of QUIC".to_owned()))?;
    let near = suite.keys(&[1; 8], Side::Client, Version::V1).local;
    let far = suite.keys(&[1; 8], Side::Server, Version::V1).remote;
    let mut datagrams = vec![0x41_u8; BATCH * DATAGRAM];
    let mut run = Run::default();
    for batch in 0..BATCHES {
        let numbers = batch * BATCH as u64..;
        let plain = datagrams.clone();
        timed(&mut run.0, || {
            let mut each = numbers.clone().zip(datagrams.chunks_mut(DATAGRAM));
            each.try_for_each(|(number, datagram)| seal(&near, number, datagram))
        })?;
        timed(&mut run.1, || {
            let mut each = numbers.zip(datagrams.chunks_mut(DATAGRAM));
            each.try_for_each(|(number, datagram)| open(&far, number, datagram))
        })?;
        let is_same = |(datagram, plain): (&[u8], &[u8])| {
            datagram[..DATAGRAM - TAG] == plain[..DATAGRAM - TAG]
        };
        let mut each = datagrams.chunks(DATAGRAM).zip(plain.chunks(DATAGRAM));
        assert!(each.all(is_same), "what was opened is what was sealed");
    }
    Ok(run)
}

fn seal(keys: &DirectionalKeys, number: u64, datagram: &mut [u8]) -> Result<(), Error> {
    let (header, payload) = datagram.split_at_mut(HEADER);
    let (payload, tag) = payload.split_at_mut(PAYLOAD);
    let made = keys.packet.encrypt_in_place(number, header, payload)?;
    tag.copy_from_slice(made.as_ref());
    let (header, sample) = datagram.split_at_mut(SAMPLE_AT);
    let (first, rest) = header.split_at_mut(1);
    let number = &mut rest[HEADER - NUMBER - 1..][..NUMBER];
    keys.header
        .encrypt_in_place(&sample[..SAMPLE], &mut first[0], number)
}

fn open(keys: &DirectionalKeys, number: u64, datagram: &mut [u8]) -> Result<(), Error> {
    let (header, sample) = datagram.split_at_mut(SAMPLE_AT);
    let (first, rest) = header.split_at_mut(1);
    let hidden = &mut rest[HEADER - NUMBER - 1..][..NUMBER];
    keys.header
        .decrypt_in_place(&sample[..SAMPLE], &mut first[0], hidden)?;
    let (header, sealed) = datagram.split_at_mut(HEADER);
    keys.packet.decrypt_in_place(number, header, sealed)?;
    Ok(())
}
