//! The one place where the loops of the program wait: for descriptors, time, signals and changes of the network.
//!
//! Short waits outside of a loop stand where they are needed: for the end of a child, for the last words to a terminal.

use std::collections::VecDeque;
use std::{io, mem};

use fulmar_base::{Hint, Time};
use fulmar_platform::{
    DeadlineTimer, Interest, Poller, Readiness, RouteSocket, Signal, SignalPipe, SleepWatch,
};

/// The memory for what one loop waits for.
pub(crate) type Registry<'fd> = fulmar_platform::Registry<'fd, Token>;

/// A thing that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// The deadline. The reactor looks after it.
    Timer,
    /// The signals. The reactor looks after them.
    Signals,
    /// The changes of the network. The reactor looks after them.
    Routes,
    /// Work that an earlier turn has left over.
    Backlog,
    /// A UDP socket, by its index among those of its owner.
    Socket(usize),
    /// The user's terminal.
    Terminal,
    /// The terminal of the program that a server runs.
    Pty,
    /// The standard output of ssh.
    SshOutput,
    /// The standard error of ssh.
    SshErrors,
    /// Room in the standard input of ssh.
    SshInput,
    /// An answer to a question about the host.
    HostLookup,
    /// The other process of a fork: the daemon for its parent, the parent for its daemon.
    ForkPeer,
    /// The socket of a session, for processes that ask something there.
    ControlListener,
    /// A process that asks something there, by its index.
    ControlPeer(usize),
    /// A process that carries datagrams of a session, by its index.
    Carrier(usize),
    /// The server of a session that expects a client.
    SessionServer,
    /// Our standard input.
    Input,
    /// Room in our standard output.
    Output,
    /// The file or stream that a copy reads or writes.
    Copied,
}

/// An event of one turn of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ReactorEvent {
    /// The machine or its network has changed.
    Hint(Hint),
    /// A signal has come.
    Signal(Signal),
    /// A descriptor is ready.
    Ready(Token, Readiness),
}

/// Waits for everything that a loop of this program waits for.
///
/// Each turn of a loop sets the deadline, registers its descriptors, waits, and takes the events off. They come in
/// this order: hints, signals, what an earlier turn has left over, then descriptors as they were registered. A resize
/// counts before the keys that were typed after it, and sockets are registered before the keyboard, so that a key meets
/// the newest screen.
#[derive(Debug)]
pub(crate) struct Reactor {
    signals: SignalPipe,
    timer: DeadlineTimer,
    routes: Option<RouteSocket>,
    sleep: SleepWatch,
    poller: Poller<Token>,
    events: VecDeque<ReactorEvent>,
    /// True once the events of this turn were collected.
    is_collected: bool,
}

impl Reactor {
    /// Returns a reactor that also waits for these signals.
    ///
    /// # Errors
    ///
    /// When the system has no descriptors left.
    pub(crate) fn new(signals: &[Signal]) -> io::Result<Reactor> {
        Ok(Reactor {
            signals: SignalPipe::new(signals)?,
            timer: DeadlineTimer::new()?,
            routes: RouteSocket::open(),
            sleep: SleepWatch::new(),
            poller: Poller::new(),
            events: VecDeque::new(),
            is_collected: true,
        })
    }

    /// Waits until the deadline has passed or there is an event. Events of the last turn that nobody has taken
    /// are forgotten: what is still ready comes again.
    ///
    /// # Errors
    ///
    /// When the system has no memory for it.
    pub(crate) fn wait<'fd>(
        &'fd mut self,
        deadline: Option<Time>,
        register: impl FnOnce(&mut Registry<'fd>),
    ) -> io::Result<()> {
        self.events.clear();
        self.is_collected = false;
        self.timer.set(deadline.map(Time::since_origin))?;
        let (timer, signals, routes) = (&self.timer, &self.signals, &self.routes);
        self.poller.wait(timer.wait_limit(), |registry| {
            if let Some(descriptor) = timer.descriptor() {
                registry.add_borrowed(Token::Timer, descriptor, Interest::Read);
            }
            registry.add(Token::Signals, signals, Interest::Read);
            if let Some(routes) = routes {
                registry.add(Token::Routes, routes, Interest::Read);
            }
            register(registry);
        })
    }

    /// Returns the next event of this turn.
    pub(crate) fn poll_event(&mut self) -> Option<ReactorEvent> {
        if !mem::replace(&mut self.is_collected, true) {
            self.collect();
        }
        self.events.pop_front()
    }

    /// Tells if the deadline has come.
    pub(crate) fn is_due(&self) -> bool {
        self.timer.has_passed()
    }

    fn collect(&mut self) {
        if let Some(slept) = self.sleep.slept() {
            self.events
                .push_back(ReactorEvent::Hint(Hint::Woke { slept }));
        }
        if self.is_ready(Token::Routes) {
            self.collect_network_changes();
        }
        // One that came after the wait has looked counts, too.
        if self.is_ready(Token::Signals) || self.signals.has_come() {
            self.events
                .extend(self.signals.drain().map(ReactorEvent::Signal));
        }
        for (token, readiness) in self.poller.ready() {
            if !matches!(token, Token::Timer | Token::Signals | Token::Routes) {
                self.events.push_back(ReactorEvent::Ready(token, readiness));
            }
        }
    }

    fn is_ready(&self, wanted: Token) -> bool {
        self.poller.ready().any(|(token, _)| token == wanted)
    }

    fn collect_network_changes(&mut self) {
        let Some(routes) = &self.routes else { return };
        match routes.drain() {
            Ok(change) => {
                if change.addresses || change.routes {
                    self.events
                        .push_back(ReactorEvent::Hint(Hint::AddressChanged));
                }
                if change.link_up {
                    self.events.push_back(ReactorEvent::Hint(Hint::LinkUp));
                }
            }
            // Without it the same things are noticed later, by their effects.
            Err(_) => self.routes = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Write as _, pipe};

    use fulmar_platform::process;

    use super::*;

    /// Waits and returns the tokens of what is ready.
    fn tokens(reactor: &mut Reactor) -> Vec<Token> {
        let mut tokens = Vec::new();
        while let Some(event) = reactor.poll_event() {
            if let ReactorEvent::Ready(token, _) = event {
                tokens.push(token);
            }
        }
        tokens
    }

    #[test]
    fn signals_come_before_sockets_and_sockets_before_keys() {
        let (socket, mut datagram) = pipe().unwrap();
        let (terminal, mut key) = pipe().unwrap();
        let mut reactor = Reactor::new(&[Signal::WindowChange]).unwrap();
        // In the order in which they do not count.
        key.write_all(b"x").unwrap();
        datagram.write_all(b"x").unwrap();
        process::send_signal(std::process::id(), Signal::WindowChange).unwrap();
        // Another thread may be the one that handles it.
        while !reactor.signals.has_come() {
            std::thread::yield_now();
        }
        let waited = reactor.wait(None, |registry| {
            registry.add(Token::Socket(0), &socket, Interest::Read);
            registry.add(Token::Terminal, &terminal, Interest::Read);
        });
        waited.unwrap();
        let mut events = Vec::new();
        while let Some(event) = reactor.poll_event() {
            match event {
                ReactorEvent::Signal(signal) => events.push(format!("{signal:?}")),
                ReactorEvent::Ready(token, _) => events.push(format!("{token:?}")),
                ReactorEvent::Hint(_) => {}
            }
        }
        assert_eq!(events, ["WindowChange", "Socket(0)", "Terminal"]);
    }

    #[test]
    fn a_deadline_ends_the_wait_and_is_due_until_another_is_set() {
        let mut reactor = Reactor::new(&[]).unwrap();
        reactor.wait(Some(Time::ZERO), |_| {}).unwrap();
        assert!(reactor.is_due() && tokens(&mut reactor).is_empty());
        reactor
            .wait(None, |registry| registry.add_ready(Token::Backlog))
            .unwrap();
        assert!(!reactor.is_due());
    }

    #[test]
    fn work_that_is_left_over_comes_before_what_is_ready_and_nobody_sleeps() {
        let (terminal, mut key) = pipe().unwrap();
        key.write_all(b"x").unwrap();
        let mut reactor = Reactor::new(&[]).unwrap();
        let waited = reactor.wait(None, |registry| {
            registry.add(Token::Terminal, &terminal, Interest::Read);
            registry.add_ready(Token::Backlog);
        });
        waited.unwrap();
        assert_eq!(tokens(&mut reactor), [Token::Backlog, Token::Terminal]);
    }

    #[test]
    fn events_that_nobody_has_taken_are_not_told_twice() {
        let (terminal, mut key) = pipe().unwrap();
        key.write_all(b"x").unwrap();
        let mut reactor = Reactor::new(&[]).unwrap();
        for _ in 0..2 {
            let waited = reactor.wait(None, |registry| {
                registry.add(Token::Terminal, &terminal, Interest::Read);
            });
            waited.unwrap();
        }
        assert_eq!(tokens(&mut reactor), [Token::Terminal]);
    }
}
