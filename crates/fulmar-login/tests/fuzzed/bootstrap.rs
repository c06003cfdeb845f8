//! The output of ssh and of the remote side, and the offers of clients.

use fulmar_core::Capabilities;
use fulmar_datagram::Key;
use fulmar_login::{
    Announcement, BootstrapLine, BootstrapRequest, CopyService, LoginOutput, Offer, OfferReader,
    OutputEvent, RemoteService, SessionListService, SessionService,
};

/// Reads the bytes as a line, as an offer, or as the output of one of the logins, in two pieces.
///
/// # Panics
///
/// Where something means another thing once it was written again, or comes in other pieces; or where what is shown has
/// control characters.
pub(crate) fn check(bytes: &[u8]) {
    let Some((&kind, rest)) = bytes.split_first() else {
        return;
    };
    match kind % 5 {
        0 => line(rest),
        1 => offer(rest),
        2 => output(rest, || SessionService::new(request())),
        3 => output(rest, || SessionListService::new(request())),
        _ => output(rest, || CopyService::new("fulmar", None)),
    }
}

fn request() -> fulmar_login::EncodedRequest {
    let request = BootstrapRequest {
        start: None,
        fallback: None,
        offer: Offer::of(Capabilities::ALL),
    };
    request.encode().expect("there is nothing odd in it")
}

fn line(bytes: &[u8]) {
    if let Ok(text) = str::from_utf8(bytes)
        && let Some(announcement) = Announcement::parse(text)
    {
        let again = announcement.line();
        let again = Announcement::parse(again.trim_end()).expect("it was written");
        assert_eq!(again.line(), announcement.line());
    }
    let Ok(Some(line)) = BootstrapLine::parse(bytes, Key::from_base64) else {
        return;
    };
    let text = line.text();
    let text = text.strip_suffix('\n').expect("it ends");
    let again = BootstrapLine::parse(text.as_bytes(), Key::from_base64);
    let Ok(Some(again)) = again else {
        panic!("what was written cannot be read: {text:?}");
    };
    assert_eq!(again.text().trim_end_matches('\n'), text);
}

fn offer(bytes: &[u8]) {
    let Some((&place, bytes)) = bytes.split_first() else {
        return;
    };
    let whole = OfferReader::default().take(bytes);
    let (first, second) = bytes.split_at(usize::from(place).min(bytes.len()));
    let mut reader = OfferReader::default();
    let in_pieces = match reader.take(first) {
        Ok(None) => reader.take(second),
        other => other,
    };
    assert_eq!(whole, in_pieces);
    if let Ok(Some(received)) = whole {
        let again = OfferReader::default().take(&received.offer.text());
        let again = again.expect("it was written").expect("it is whole");
        assert_eq!(again.offer, received.offer);
    }
}

fn output<S: RemoteService>(bytes: &[u8], service: impl Fn() -> S) {
    let Some((&place, bytes)) = bytes.split_first() else {
        return;
    };
    let whole = read(&[bytes], service());
    let (first, second) = bytes.split_at(usize::from(place).min(bytes.len()));
    let in_pieces = read(&[first, second], service());
    assert_eq!(whole, in_pieces);
    for event in whole.0 {
        if let OutputEvent::Other(text) | OutputEvent::Warning(text) = event {
            let odd = text.chars().find(|character| character.is_control());
            assert_eq!(odd, None, "{text:?}");
        }
    }
}

/// Returns what is told of these pieces, and whether the login goes on.
fn read<S: RemoteService>(pieces: &[&[u8]], service: S) -> (Vec<OutputEvent>, Option<String>) {
    let mut output = LoginOutput::new(service, Key::from_base64);
    let mut events = Vec::new();
    for piece in pieces {
        let mut rest = *piece;
        if let Err(error) = output.read(&mut rest, &mut events) {
            return (events, Some(format!("{error:?}")));
        }
        if events.last() == Some(&OutputEvent::OverSsh) {
            return (events, None);
        }
    }
    let ended = output.end(&mut events).err();
    (events, ended.map(|error| format!("{error:?}")))
}
