use super::wording::Elapsed;
use super::*;

const WIDE: u16 = 200;

fn ms(millis: u64) -> Time {
    Time::from_origin(Duration::from_millis(millis))
}

fn notices() -> Notices {
    notices_of(Delivery::Unknown)
}

fn notices_of(delivery: Delivery) -> Notices {
    Notices::new(
        ms(0),
        CompatMode::Fulmar,
        "192.0.2.7, UDP port 60001".to_owned(),
        delivery,
        EscapeKey::default(),
    )
}

const SILENT: ServerLiveness = ServerLiveness {
    heard: None,
    silent_since: None,
    answered: None,
    round_trip: Duration::from_millis(50),
};

fn heard_at(heard: u64, answered: u64) -> ServerLiveness {
    ServerLiveness {
        heard: Some(ms(heard)),
        silent_since: Some(ms(heard)),
        answered: Some(ms(answered)),
        round_trip: Duration::from_millis(50),
    }
}

fn text(notices: &Notices, now: u64, liveness: ServerLiveness) -> Option<String> {
    notices.text(ms(now), liveness, WIDE, Vec::new)
}

#[test]
fn connecting_is_told_after_a_quarter_second_and_doubted_after_three() {
    let notices = notices();
    assert_eq!(text(&notices, 249, SILENT), None);
    assert_eq!(notices.next_change(ms(0), SILENT), Some(ms(250)));
    let waiting = text(&notices, 250, SILENT).unwrap();
    assert!(waiting.contains("192.0.2.7, UDP port 60001"), "{waiting}");
    assert!(!waiting.contains("firewall"), "{waiting}");
    assert_eq!(notices.next_change(ms(250), SILENT), Some(ms(3000)));
    let doubting = text(&notices, 3000, SILENT).unwrap();
    assert!(doubting.contains("192.0.2.7, UDP port 60001"), "{doubting}");
    assert!(doubting.contains("3 seconds"), "{doubting}");
    assert!(doubting.contains("firewall"), "{doubting}");
    assert!(doubting.contains("Ctrl-^ . quits"), "{doubting}");
}

#[test]
fn a_server_that_tells_whether_it_hears_us_shows_which_way_is_closed() {
    let mut notices = notices_of(Delivery::Awaited);
    let label = "192.0.2.7, UDP port 60001";
    for columns in [80, WIDE] {
        let told = |notices: &Notices| {
            let text = notices.text(ms(3000), SILENT, columns, Vec::new);
            text.filter(|text| text.contains(label) && text.len() <= usize::from(columns))
                .unwrap()
        };
        let there = told(&notices);
        assert!(there.contains("nothing arrives"), "{there}");
        notices.set_heard();
        let back = told(&notices);
        assert!(back.contains("hears us"), "{back}");
        notices = notices_of(Delivery::Awaited);
    }
}

#[test]
fn contact_is_late_after_six_and_a_half_seconds() {
    let notices = notices();
    let liveness = heard_at(1000, 1000);
    assert_eq!(text(&notices, 7500, liveness), None);
    assert_eq!(notices.next_change(ms(1000), liveness), Some(ms(7501)));
    let late = text(&notices, 7501, liveness).unwrap();
    assert!(late.contains("nothing heard for 6 seconds"), "{late}");
}

#[test]
fn a_reply_is_late_after_ten_seconds_of_contact_without_it() {
    let notices = notices();
    assert_eq!(text(&notices, 11_000, heard_at(10_900, 1000)), None);
    let late = text(&notices, 11_001, heard_at(10_900, 1000)).unwrap();
    assert!(late.contains("heard nothing for 10 seconds"), "{late}");
    let both = text(&notices, 20_000, heard_at(10_000, 1000)).unwrap();
    assert!(both.contains("nothing heard for 10 seconds"), "{both}");
}

#[test]
fn a_long_round_trip_is_not_lateness() {
    let notices = notices();
    let liveness = ServerLiveness {
        round_trip: Duration::from_secs(10),
        ..heard_at(1000, 1000)
    };
    assert_eq!(text(&notices, 21_000, liveness), None);
    assert!(text(&notices, 21_001, liveness).is_some());
}

#[test]
fn a_pause_that_was_agreed_on_is_no_silence_and_is_counted_once_it_is() {
    let notices = notices();
    let liveness = ServerLiveness {
        silent_since: Some(ms(13_000)),
        ..heard_at(1000, 16_000)
    };
    assert_eq!(text(&notices, 19_500, liveness), None);
    assert_eq!(notices.next_change(ms(1000), liveness), Some(ms(19_501)));
    let late = text(&notices, 19_501, liveness).unwrap();
    assert!(late.contains("nothing heard for 18 seconds"), "{late}");
}

#[test]
fn the_time_is_renewed_every_second_and_after_a_minute_every_third() {
    let notices = notices();
    let liveness = heard_at(500, 500);
    assert_eq!(notices.next_change(ms(8000), liveness), Some(ms(8500)));
    assert_eq!(notices.next_change(ms(8500), liveness), Some(ms(9500)));
    assert_eq!(notices.next_change(ms(60_500), liveness), Some(ms(63_500)));
    assert_eq!(notices.next_change(ms(63_500), liveness), Some(ms(66_500)));
}

#[test]
fn a_change_that_is_announced_lies_ahead() {
    let mut notices = notices();
    notices.show_link_info(ms(100));
    notices.note_trouble(ms(120), "cannot send: no route".to_owned());
    for liveness in [SILENT, heard_at(90, 90)] {
        let mut now = ms(0);
        for _ in 0..1000 {
            let next = notices.next_change(now, liveness).unwrap();
            assert!(next > now);
            now = next;
        }
    }
}

#[test]
fn times_are_seconds_then_minutes_then_hours() {
    let write = |seconds| Elapsed(Duration::from_secs(seconds)).to_string();
    assert_eq!(write(0), "0 seconds");
    assert_eq!(write(1), "1 second");
    assert_eq!(write(59), "59 seconds");
    assert_eq!(write(60), "1:00");
    assert_eq!(write(3599), "59:59");
    assert_eq!(write(3600), "1:00:00");
    assert_eq!(write(90_061), "25:01:01");
}

#[test]
fn trouble_is_told_when_it_lasts_and_fades_when_it_ends() {
    let mut notices = notices();
    let liveness = heard_at(1000, 1000);
    notices.note_trouble(ms(1700), "cannot send: no route".to_owned());
    assert_eq!(text(&notices, 2500, liveness), None, "it was one");
    notices.note_trouble(ms(1949), "cannot send: no route".to_owned());
    assert_eq!(text(&notices, 2500, liveness), None);
    notices.note_trouble(ms(2000), "cannot send: no route".to_owned());
    let shown = text(&notices, 2000, liveness).unwrap();
    assert!(shown.contains("cannot send: no route"), "{shown}");
    assert!(text(&notices, 5099, liveness).is_some());
    assert_eq!(text(&notices, 5100, liveness), None);
    notices.note_trouble(ms(5000), "cannot send: no route".to_owned());
    assert!(
        text(&notices, 5001, liveness).is_some(),
        "still the same run"
    );
    assert!(text(&notices, 6299, heard_at(5300, 5300)).is_some());
    assert_eq!(text(&notices, 6300, heard_at(5300, 5300)), None);
}

#[test]
fn a_next_hop_that_does_not_answer_is_told_at_once_and_between_the_reports() {
    let mut notices = notices();
    let liveness = heard_at(1000, 1000);
    notices.note_silent_next_hop(ms(4000));
    let shown = text(&notices, 4000, liveness).unwrap();
    assert!(shown.contains("neither the server nor a router"), "{shown}");
    assert!(
        text(&notices, 10_999, liveness)
            .unwrap()
            .contains("nor a router")
    );
    assert_eq!(text(&notices, 5300, heard_at(4300, 4300)), None);
}

#[test]
fn the_armed_escape_key_explains_itself() {
    let mut notices = notices();
    notices.set_armed(true);
    let help = text(&notices, 100, SILENT).unwrap();
    assert!(help.contains(". to quit"), "{help}");
    assert!(help.contains("? for all keys"), "{help}");
    notices.set_armed(false);
    assert_eq!(text(&notices, 100, SILENT), None);
}

#[test]
fn link_information_stays_for_ten_seconds_or_until_dismissed() {
    let mut notices = notices();
    let liveness = heard_at(1000, 1000);
    let shown = |notices: &Notices, now| {
        notices.text(ms(now), liveness, WIDE, || {
            vec!["round trip 7 ms".to_owned()]
        })
    };
    notices.show_link_info(ms(1000));
    let panel = "fulmar: the link to 192.0.2.7, UDP port 60001\n  round trip 7 ms\n  q, Esc, \
                 Space or Enter closes this; other keys do, too, and are typed.";
    assert_eq!(shown(&notices, 1000).as_deref(), Some(panel));
    assert_eq!(notices.next_change(ms(1000), liveness), Some(ms(2000)));
    let later = heard_at(10_999, 10_999);
    assert!(notices.text(ms(10_999), later, WIDE, Vec::new).is_some());
    assert_eq!(notices.text(ms(11_000), later, WIDE, Vec::new), None);
    notices.show_link_info(ms(1000));
    notices.dismiss();
    assert_eq!(shown(&notices, 1000), None);
}

#[test]
fn what_is_told_stays_for_ten_seconds_or_until_dismissed() {
    let mut notices = notices();
    let liveness = heard_at(20_000, 20_000);
    notices.tell(ms(20_000), "something".to_owned());
    let line = "fulmar: something (Ctrl-^ . quits)";
    assert_eq!(text(&notices, 20_000, liveness).as_deref(), Some(line));
    assert_eq!(text(&notices, 30_000, heard_at(30_000, 30_000)), None);
    notices.dismiss();
    assert_eq!(text(&notices, 20_000, liveness), None);
}

#[test]
fn address_port_and_what_to_check_fit_into_80_columns() {
    let text = notices().text(ms(5000), SILENT, 80, Vec::new).unwrap();
    assert_eq!(
        text,
        "fulmar: no answer from 192.0.2.7, UDP port 60001; does a firewall block it?"
    );
}

#[test]
fn help_fits_into_80_columns() {
    let mut notices = notices();
    notices.set_armed(true);
    let help = text(&notices, 100, SILENT).unwrap();
    assert!(help.len() <= 80, "{help}");
}

#[test]
fn a_narrow_screen_gets_the_shorter_wording() {
    let notices = notices();
    let liveness = heard_at(0, 0);
    let at = |columns| {
        notices
            .text(ms(12_000), liveness, columns, Vec::new)
            .unwrap()
    };
    assert!(at(200).contains("what you type is kept"));
    assert_eq!(
        at(80),
        "fulmar: nothing heard for 12 seconds; check the network (Ctrl-^ . quits)"
    );
    assert_eq!(
        at(60),
        "fulmar: nothing heard for 12 seconds; check the network"
    );
    assert_eq!(
        at(54),
        "fulmar: nothing heard for 12 seconds (Ctrl-^ . quits)"
    );
    assert_eq!(at(40), "fulmar: nothing heard for 12 seconds");
    assert_eq!(at(1), "fulmar: nothing heard for 12 seconds");
}

#[test]
fn with_trouble_how_to_quit_is_told_before_the_time() {
    let mut notices = notices();
    let refused = || "cannot send: nothing listens at the server's port".to_owned();
    notices.note_trouble(ms(12_000), refused());
    notices.note_trouble(ms(13_000), refused());
    let at = |columns| {
        notices
            .text(ms(13_000), heard_at(0, 0), columns, Vec::new)
            .unwrap()
    };
    assert!(at(200).contains("nothing heard for 13 seconds; check the network"));
    assert_eq!(
        at(80),
        "fulmar: cannot send: nothing listens at the server's port (Ctrl-^ . quits)"
    );
}

#[test]
fn a_panel_stands_below_the_line_that_says_what_is_wrong() {
    let mut notices = notices();
    notices.show_help(ms(20_000));
    let text = text(&notices, 20_000, heard_at(0, 0)).unwrap();
    let rows: Vec<&str> = text.lines().collect();
    assert!(rows[0].contains("nothing heard for 20 seconds"), "{text}");
    assert_eq!(rows[1], "fulmar: keys after Ctrl-^");
    notices.set_armed(true);
    let armed = notices.text(ms(20_000), heard_at(20_000, 20_000), WIDE, Vec::new);
    assert_eq!(armed.unwrap().lines().count(), 1);
}

#[test]
fn a_server_elsewhere_may_be_behind_a_firewall_that_rejects() {
    let mut notices = notices();
    notices.note_refused(ms(2000));
    notices.note_refused(ms(5000));
    let told = "fulmar: UDP is rejected: a firewall, or a server that has gone";
    let early = text(&notices, 5000, heard_at(1000, 1000));
    assert_eq!(early, Some(format!("{told} (Ctrl-^ . quits)")));
    // It may answer yet, and for how long it has not is of interest.
    let late = text(&notices, 20_000, heard_at(1000, 1000)).unwrap();
    assert!(
        late.starts_with(&format!("{told}; nothing heard for 19 seconds")),
        "{late}"
    );
}

#[test]
fn a_server_that_is_gone_is_called_gone_and_nothing_else() {
    let mut notices = notices();
    notices.set_server_local(true);
    let liveness = heard_at(1000, 1000);
    notices.note_refused(ms(2000));
    assert_eq!(text(&notices, 2000, liveness), None, "it was one");
    notices.note_refused(ms(5000));
    let gone = "fulmar: the server is gone: nothing listens at its port (Ctrl-^ . quits)";
    for now in [5000, 9000, 100_000] {
        assert_eq!(text(&notices, now, liveness).as_deref(), Some(gone));
    }
    assert!(gone.len() <= 80);
    notices.note_answer();
    assert_eq!(text(&notices, 6000, liveness), None);
}
