//! What a hostile network does to connections, decided from a seed or by a test: the rules of a proxy, without the proxy.

use std::time::Duration;

use crate::Rng;

/// How a connection ends before either side wants it to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// In order, as far as TCP is concerned: both sides read the end of the stream.
    Cut,
    /// By RST: both sides get an error.
    Reset,
    /// Not at all: nothing is passed on any more, and nobody is told.
    HalfOpen,
}

/// What happens to one connection. The default passes everything on at once.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Course {
    /// So many bytes at most are passed on at once, each piece as a packet of its own.
    pub piece: usize,
    /// Before each piece: a delay where pieces are large, a drip where they are small.
    pub pause: Duration,
    /// It is connected to the server only after the connection that comes next, if one does soon.
    pub is_overtaken: bool,
    /// After how many bytes, of both directions, it ends, and how.
    pub end: Option<(u64, Fate)>,
}

impl Default for Course {
    fn default() -> Self {
        Self {
            piece: usize::MAX,
            pause: Duration::ZERO,
            is_overtaken: false,
            end: None,
        }
    }
}

impl Course {
    /// In pieces of so many bytes.
    #[must_use]
    pub fn in_pieces(mut self, n_bytes: usize) -> Self {
        self.piece = n_bytes.max(1);
        self
    }

    /// With a pause before each piece.
    #[must_use]
    pub fn with_pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// Connected only after the next one.
    #[must_use]
    pub fn overtaken(mut self) -> Self {
        self.is_overtaken = true;
        self
    }

    /// Ending like this after so many bytes.
    #[must_use]
    pub fn ending(mut self, after: u64, fate: Fate) -> Self {
        self.end = Some((after, fate));
        self
    }
}

/// Which courses connections take.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Manner {
    /// All the same one.
    Same(Course),
    /// Each another, drawn from a seed: most of them are cut, reset or left half open sooner or later, many drip, some byte by byte.
    Seeded(Rng),
}

impl Manner {
    /// Nothing is done to connections.
    #[must_use]
    pub fn calm() -> Self {
        Self::Same(Course::default())
    }

    /// Drawn from this seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self::Seeded(Rng::new(seed))
    }

    /// The course of the next connection.
    pub fn next_course(&mut self) -> Course {
        match self {
            Self::Same(course) => course.clone(),
            Self::Seeded(rng) => drawn(rng),
        }
    }
}

fn drawn(rng: &mut Rng) -> Course {
    let piece = [1, 7, 100, 1400, 16 << 10, usize::MAX][rng.index(6)];
    // What goes byte by byte is slow enough by itself.
    let pause = match rng.range(0..3) {
        0 if piece >= 100 => Duration::from_micros(rng.range(0..3000)),
        1 if piece >= 1400 => Duration::from_millis(rng.range(0..50)),
        _ => Duration::ZERO,
    };
    // From within the TLS handshake to well into what follows it, as likely in each order of magnitude.
    let after = (100.0 * 2000_f64.powf(rng.fraction())) as u64;
    let fate = match rng.range(0..8) {
        0..3 => Some(Fate::Cut),
        3..6 => Some(Fate::Reset),
        6 => Some(Fate::HalfOpen),
        _ => None,
    };
    Course {
        piece,
        pause,
        is_overtaken: rng.chance(0.25),
        end: fate.map(|fate| (after, fate)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Course, Fate, Manner};

    #[test]
    fn a_seed_gives_the_same_courses_and_all_kinds_of_them() {
        let courses = |seed| {
            let mut manner = Manner::seeded(seed);
            (0..200).map(|_| manner.next_course()).collect::<Vec<_>>()
        };
        assert_eq!(courses(7), courses(7));
        assert_ne!(courses(7), courses(8));
        let drawn = courses(1);
        let pieces: BTreeSet<_> = drawn.iter().map(|course| course.piece).collect();
        assert_eq!(pieces.len(), 6);
        for fate in [Fate::Cut, Fate::Reset, Fate::HalfOpen] {
            assert!(
                drawn
                    .iter()
                    .any(|course| course.end.is_some_and(|(_, how)| how == fate))
            );
        }
        assert!(drawn.iter().any(|course| course.is_overtaken));
        assert!(drawn.iter().any(|course| !course.pause.is_zero()));
        assert!(drawn.iter().any(|course| course.end.is_none()));
        let afters = drawn
            .iter()
            .filter_map(|course| course.end.map(|(after, _)| after));
        assert!(afters.clone().all(|after| (100..200_000).contains(&after)));
        assert!(afters.clone().any(|after| after < 2_000) && afters.clone().any(|after| after > 20_000));
    }

    #[test]
    fn one_course_is_for_all() {
        let course = Course::default().in_pieces(0).ending(5, Fate::Reset).overtaken();
        let mut manner = Manner::Same(course.clone());
        assert_eq!(manner.next_course(), course);
        assert_eq!(manner.next_course().piece, 1);
        assert_eq!(Manner::calm().next_course(), Course::default());
    }
}
