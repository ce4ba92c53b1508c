//! The options that say what is wanted, over what the target wants.

use broccoli_core::problem::{Aim, Over};
use broccoli_problem::{ObjectiveChoice, ObjectiveKind, Target};
use clap::{Args, ValueEnum};

use crate::complaint::Complaint;
use crate::numbers::{Numbers, numbers, percentage, whole};

/// What a run is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KindName {
    /// The steps until the goal; the fewer the better
    Reach,
    /// The steps until a violation; the more the better
    Survive,
    /// The sum of the rewards
    Return,
}

/// How the values of several initial states become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OverName {
    /// The worst of them
    Worst,
    /// Their mean
    Mean,
    /// Their sum
    Sum,
}

/// The options about the objective.
#[derive(Debug, Args)]
pub struct ObjectiveOptions {
    /// The most steps of a run, at least 1 [default: the target's]
    #[arg(long, value_name = "K", allow_hyphen_values = true, value_parser = whole::<u64>(1..=u64::MAX))]
    horizon: Option<u64>,

    /// What a run is worth [default: the target's]
    #[arg(long, value_name = "KIND")]
    objective: Option<KindName>,

    /// How the values of several initial states become one [default: worst]
    #[arg(long, value_name = "HOW")]
    over: Option<OverName>,

    /// The share of the initial states that must reach the goal, such as 90%; the worst of the best counts
    #[arg(long, value_name = "P", conflicts_with = "over", value_parser = percentage)]
    share: Option<f64>,

    /// What each initial state weighs in the sum of their values
    #[arg(long, value_name = "A,B,…", conflicts_with_all = ["over", "share"], allow_hyphen_values = true, value_parser = numbers("1,0.5"))]
    weights: Option<Numbers>,

    /// return: what a reward counts for one step later, from 0 to 1 [default: 1]
    #[arg(long, value_name = "G", allow_hyphen_values = true)]
    discount: Option<f64>,

    /// return: minimise it, as for a cost
    #[arg(long)]
    minimise: bool,

    /// return: the least and the largest reward of a step, by which the search prunes [default: the target's]
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true, value_parser = numbers("-1,0"))]
    rewards: Option<Numbers>,
}

/// Refuses an objective that the target could never meet, or always would.
pub fn check_objective(target: &Target) -> Result<(), Complaint> {
    target.check_objective().map_err(|lack| {
        let complaint = Complaint::input(lack.to_string());
        match lack.help() {
            Some(help) => complaint.help(help),
            None => complaint,
        }
    })
}

impl ObjectiveOptions {
    /// Writes the options over what the target wants.
    pub fn choose(&self, target: &mut Target) -> Result<(), Complaint> {
        let choice = self.choice()?;
        if !choice.is_any() {
            return Ok(());
        }
        let option = if self.objective.is_some() { "--objective: " } else { "" };
        target.choose_objective(&choice).map_err(|what| Complaint::input(format!("{option}{what}")))
    }

    fn choice(&self) -> Result<ObjectiveChoice, Complaint> {
        let over = self.over.map(|over| match over {
            OverName::Worst => Over::Worst,
            OverName::Mean => Over::Mean,
            OverName::Sum => Over::Sum,
        });
        let rewards = match &self.rewards {
            None => None,
            Some(Numbers(bounds)) => match bounds[..] {
                [low, high] if low <= high => Some((low, high)),
                _ => return Err(Complaint::input("--rewards: give the least and the largest, as in -1,0")),
            },
        };
        Ok(ObjectiveChoice {
            kind: self.objective.map(|kind| match kind {
                KindName::Reach => ObjectiveKind::Reach,
                KindName::Survive => ObjectiveKind::Survive,
                KindName::Return => ObjectiveKind::Return,
            }),
            horizon: self.horizon,
            over: over.or(self.share.map(Over::Share)),
            weights: self.weights.as_ref().map(|Numbers(weights)| weights.clone()),
            discount: self.discount,
            aim: self.minimise.then_some(Aim::Minimise),
            rewards,
        })
    }
}
