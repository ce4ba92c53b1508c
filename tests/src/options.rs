//! How a search is run: every option that must not make its answer wrong, drawn at random.
//!
//! The wall runs a few of these on every random problem, instead of all on each: every pair of options still meets
//! thousands of times, which [`Meetings`] counts.

use std::collections::BTreeMap;
use std::sync::Mutex;

use broccoli_core::search::{HintTuning, Tuning};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

/// An engine, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum EngineName {
    /// The default.
    Behaviour,
    /// The paper's, made sound.
    Backtracking,
    /// The same, with no tree left out that differs from others.
    WithoutPruning,
    /// Every tree.
    Exhaustive,
}

/// How a system comes back to a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Back {
    /// Its state is bytes.
    Clone,
    /// It saves and restores.
    Snapshot,
    /// By reset, and the same actions again.
    Replay,
}

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Answer {
    /// The best tree.
    Best,
    /// The best tree of every size.
    Front,
    /// All of the best trees.
    All,
    /// The best tree, by a search that is cut into so many parts.
    InParts(usize),
}

/// Where a search is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Halt {
    /// Nowhere.
    Never,
    /// After this percentage of its queries.
    At(u8),
    /// The same, and it is resumed, as often as it takes.
    Pieces(u8),
}

/// A certificate that is written, and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Proof {
    /// None.
    No,
    /// Without what the system answered.
    Light,
    /// With it.
    Full,
}

/// One way to run a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Options {
    /// Who searches.
    pub engine: EngineName,
    /// How the system comes back to a state.
    pub back: Back,
    /// How many threads.
    pub threads: usize,
    /// What the system answers is remembered in so many bytes.
    pub cache: Option<usize>,
    /// A limit on memory.
    pub memory: Option<usize>,
    /// So many steps at a time.
    pub rows: Option<usize>,
    /// How far from the optimum the value may be, in percent.
    pub gap: u16,
    /// Whether the first tree will do.
    pub first: bool,
    /// The seed of a tree to start from; `u32::MAX` is the problem's answer.
    pub start: Option<u32>,
    /// Where it is stopped.
    pub halt: Halt,
    /// What is asked for.
    pub answer: Answer,
    /// The price of each dimension.
    pub prices: Vec<f64>,
    /// The certificate.
    pub proof: Proof,
    /// The constants of the search, if they are others.
    #[serde(default)]
    pub tuning: Option<Tuning>,
}

impl Options {
    /// The search as it is without any option.
    pub fn plain() -> Self {
        Options {
            engine: EngineName::Behaviour,
            back: Back::Clone,
            threads: 1,
            cache: None,
            memory: None,
            rows: None,
            gap: 0,
            first: false,
            start: None,
            halt: Halt::Never,
            answer: Answer::Best,
            prices: Vec::new(),
            proof: Proof::No,
            tuning: None,
        }
    }

    /// Every option by name, and what it is, coarsely.
    pub fn names(&self) -> Vec<String> {
        let size = |bytes: Option<usize>| match bytes {
            None => "no",
            Some(0..5_000) => "tiny",
            Some(_) => "large",
        };
        vec![
            format!("engine {:?}", self.engine),
            format!("back {:?}", self.back),
            format!("threads {}", if self.threads > 1 { "several" } else { "1" }),
            format!("cache {}", size(self.cache)),
            format!("memory {}", size(self.memory)),
            format!("rows {}", if self.rows.is_some() { "several" } else { "1" }),
            format!("gap {}", if self.gap > 0 { "some" } else { "none" }),
            format!("first {}", self.first),
            format!("start {}", self.start.is_some()),
            match self.halt {
                Halt::Never => "halt never".to_owned(),
                Halt::At(_) => "halt at".to_owned(),
                Halt::Pieces(_) => "halt pieces".to_owned(),
            },
            match self.answer {
                Answer::InParts(_) => "answer in parts".to_owned(),
                answer => format!("answer {answer:?}"),
            },
            format!("prices {}", !self.prices.is_empty()),
            format!("proof {:?}", self.proof),
            format!("tuning {}", self.tuning.is_some()),
        ]
    }
}

/// Every engine, and every way to come back to a state, without any other option.
pub fn every_engine() -> Vec<Options> {
    let engine = |engine| Options { engine, ..Options::plain() };
    let back = |back| Options { back, ..Options::plain() };
    vec![
        engine(EngineName::Exhaustive),
        engine(EngineName::Backtracking),
        engine(EngineName::WithoutPruning),
        back(Back::Clone),
        back(Back::Snapshot),
        back(Back::Replay),
    ]
}

/// Any way to run a search. Each option is at its default about two times of three, so that a defect is not hidden
/// behind another option; shrinking brings it back there.
pub fn options() -> impl Strategy<Value = Options> {
    let engine = prop_oneof![
        7 => Just(EngineName::Behaviour),
        1 => Just(EngineName::Backtracking),
        1 => Just(EngineName::WithoutPruning),
        1 => Just(EngineName::Exhaustive),
    ];
    let back = prop_oneof![Just(Back::Clone), Just(Back::Snapshot), Just(Back::Replay)];
    let threads = prop_oneof![8 => Just(1usize), 1 => Just(2usize), 1 => Just(3usize)];
    let cache =
        prop_oneof![6 => Just(None), 1 => Just(Some(0)), 1 => Just(Some(500)), 2 => Just(Some(1 << 30))];
    let memory =
        prop_oneof![6 => Just(None), 1 => Just(Some(1)), 1 => Just(Some(2_000)), 2 => Just(Some(20_000))];
    let rows = prop_oneof![7 => Just(None), 1 => Just(Some(1)), 1 => Just(Some(7)), 1 => Just(Some(64))];
    let machine = (engine, back, threads, cache, memory, rows);
    let gap = prop_oneof![6 => Just(0u16), 1 => 1..30u16, 1 => 30..400u16];
    let start = prop_oneof![6 => Just(None), 2 => any::<u32>().prop_map(Some), 1 => Just(Some(u32::MAX))];
    let halt = prop_oneof![
        5 => Just(Halt::Never),
        1 => (0..100u8).prop_map(Halt::At),
        2 => (2..100u8).prop_map(Halt::Pieces),
    ];
    let answer = prop_oneof![
        6 => Just(Answer::Best),
        1 => Just(Answer::Front),
        1 => Just(Answer::All),
        2 => (1..4usize).prop_map(Answer::InParts),
    ];
    let price =
        prop_oneof![2 => Just(0.0), 3 => (1..=3u8).prop_map(f64::from), 1 => Just(0.1), 1 => Just(1e17)];
    let prices = prop_oneof![4 => Just(Vec::new()), 1 => proptest::collection::vec(price, 4)];
    let proof = prop_oneof![4 => Just(Proof::No), 1 => Just(Proof::Light), 1 => Just(Proof::Full)];
    let first = proptest::bool::weighted(0.15);
    let wanted = (gap, first, start, halt, answer, prices, proof);
    let tuning = prop_oneof![2 => Just(None), 1 => tuning().prop_map(Some)];
    (machine, wanted, tuning).prop_map(
        |(
            (engine, back, threads, cache, memory, rows),
            (gap, first, start, halt, answer, prices, proof),
            tuning,
        )| {
            Options {
                engine,
                back,
                threads,
                cache,
                memory,
                rows,
                gap,
                first,
                start,
                halt,
                answer,
                prices,
                proof,
                tuning,
            }
        },
    )
}

/// Constants that lead small problems through code which by default only large ones reach: chunks of many tasks, leaves
/// that take too much memory, traces that are not remembered.
fn tuning() -> impl Strategy<Value = Tuning> {
    let rounds = (0..6u64, 101..300u64, hints(), 0..6u64, 1..5usize);
    let chunks = (1..20u64, 1..30u64, 1..20u64, 1..8usize, prop_oneof![Just(1usize), 1..8usize]);
    let leaves = prop_oneof![4 => Just(256 << 20), 1 => Just(0usize), 1 => Just(300usize)];
    let recall = prop_oneof![4 => Just(32 << 20), 1 => Just(0usize), 1 => Just(300usize)];
    let any = (rounds, chunks, leaves, recall).prop_map(
        |(
            (first_cut, cut_growth, hints, label_price, in_bands),
            (chunk_share, least_chunk, least_task, most_tasks, first_tasks),
            most_leaf_bytes,
            most_recall_bytes,
        )| Tuning {
            first_cut,
            cut_growth,
            hints,
            label_price,
            in_bands,
            chunk_share,
            least_chunk,
            least_task,
            most_tasks,
            first_tasks,
            most_leaf_bytes,
            most_recall_bytes,
        },
    );
    // The systems of the tests are not quick: without any of this they are searched like slow ones.
    prop_oneof![1 => Just(Tuning::default()), 4 => any]
}

/// No hints, some, and more than makes sense.
fn hints() -> impl Strategy<Value = HintTuning> {
    let share = || prop_oneof![Just(1u64), 1..30u64];
    let some = || prop_oneof![Just(0u64), 1..2_000u64];
    // Small problems are late soon.
    let late = prop_oneof![1 => Just(0u64), 3 => 1..30u64, 1 => 1..2_000u64];
    let counts = (some(), some(), 0..1_000u64, late, 0..9u64, some(), 0..4u64, 1..5usize);
    let shares = (share(), share(), share(), share(), share(), 0..9u64, 0..9u64, 0..9u64, 0..900u64);
    let any = (counts, shares).prop_map(|(counts, shares)| {
        let (first, near, patience, late, seed, late_returns, few_nodes, climbers) = counts;
        let (parts, share, share_first, share_late, share_mean, eager, returns, stale, ladder) = shares;
        HintTuning {
            climbers,
            seed,
            first,
            near,
            patience,
            eager,
            parts,
            share,
            share_first,
            share_late,
            late,
            stale,
            share_mean,
            returns,
            late_returns,
            ladder,
            few_nodes,
        }
    });
    prop_oneof![1 => Just(HintTuning::OFF), 1 => Just(HintTuning::default()), 3 => any]
}

/// Counts how often every two options have met.
#[derive(Default)]
pub struct Meetings(Mutex<BTreeMap<(String, String), u64>>);

impl Meetings {
    /// These options were run together, on a problem of this kind.
    pub fn count(&self, options: &Options, problem: &[String]) {
        let names = [&options.names(), problem].concat();
        let mut meetings = self.0.lock().expect("nobody panics while counting");
        for (i, one) in names.iter().enumerate() {
            for other in &names[i + 1..] {
                *meetings.entry((one.clone(), other.clone())).or_default() += 1;
            }
        }
    }

    /// The two that have met least, and how often. Those that never met cannot be run together.
    pub fn fewest(&self) -> Option<((String, String), u64)> {
        let meetings = self.0.lock().expect("nobody panics while counting");
        meetings.iter().min_by_key(|(_, count)| **count).map(|(pair, count)| (pair.clone(), *count))
    }
}
