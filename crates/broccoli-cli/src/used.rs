//! The memory that this program takes, and the processes that it has started, and those that they have started.
//!
//! The processes are known on Linux only, from `/proc`: elsewhere the program itself is all that counts. What processes
//! share, such as a library, counts for each of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use broccoli_export::number::grouped;

/// The longest command that is shown, in characters.
const LONGEST: usize = 60;

/// What memory is taken.
pub struct Used {
    /// By this program.
    own: usize,
    /// By others: the number of the process, and what it takes.
    others: Vec<(u32, usize)>,
}

impl Used {
    /// Looks at it now; none if the system does not tell.
    pub fn look() -> Option<Self> {
        let own = memory_stats::memory_stats()?.physical_mem;
        let others = descendants().into_iter().filter_map(|id| Some((id, resident(id)?)));
        Some(Used { own, others: others.collect() })
    }

    /// In all, in bytes.
    pub fn total(&self) -> usize {
        self.others.iter().fold(self.own, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }

    /// Who takes it, the largest first, if it is not this program alone.
    pub fn shares(&self) -> Option<String> {
        const MOST: usize = 3;
        if self.others.is_empty() {
            return None;
        }
        let mut shares: Vec<(usize, String)> = self
            .others
            .iter()
            .map(|&(id, bytes)| (bytes, format!("`{}` (process {id})", command(id))))
            .collect();
        shares.push((self.own, "broccoli itself".to_owned()));
        shares.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
        let shown = shares.iter().take(MOST).map(|(bytes, who)| format!("{who} {}", megabytes(*bytes)));
        Some(shown.collect::<Vec<_>>().join(", "))
    }
}

/// Bytes for people.
pub fn megabytes(bytes: usize) -> String {
    format!("{} MB", grouped((bytes as u64).div_ceil(1_000_000)))
}

/// The processes that this one has started, and those that they have started. One that has lost its parent counts as long
/// as it is in the group of a program that we have started.
fn descendants() -> BTreeSet<u32> {
    if has_no_children() {
        return BTreeSet::new();
    }
    let processes: BTreeMap<u32, (u32, u32)> =
        numbers("/proc").filter_map(|id| Some((id, family(id)?))).collect();
    let own = std::process::id();
    let own_group = processes.get(&own).map(|&(_, group)| group);
    let mut found = BTreeSet::new();
    loop {
        let is_new = |id: &u32| *id != own && !found.contains(id);
        let belongs = |&(parent, group): &(u32, u32)| {
            parent == own || found.contains(&parent) || found.contains(&group) && Some(group) != own_group
        };
        let more: Vec<u32> =
            processes.iter().filter(|(id, of)| is_new(id) && belongs(of)).map(|(id, _)| *id).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// Whether it is known that there are none: much sooner than by looking at all processes.
fn has_no_children() -> bool {
    let mut lists =
        numbers("/proc/self/task").map(|id| fs::read_to_string(format!("/proc/self/task/{id}/children")));
    cfg!(not(target_os = "linux")) || lists.all(|list| list.is_ok_and(|list| list.trim().is_empty()))
}

/// The names in a folder that are numbers.
fn numbers(folder: &str) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The parent and the group of a process.
fn family(id: u32) -> Option<(u32, u32)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name before may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(1);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

/// What a process has in memory, in bytes.
fn resident(id: u32) -> Option<usize> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

fn command(id: u32) -> String {
    let words = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&words).replace('\0', " ");
    let text = text.trim();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn what_a_child_has_started_counts() {
        let mut shell = Command::new("sh");
        shell.args(["-c", "sleep 20 & wait"]).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = shell.spawn().expect("there is a shell");
        let mut found = BTreeSet::new();
        for _ in 0..500 {
            found = descendants();
            if found.iter().any(|&id| command(id) == "sleep 20") {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(found.contains(&child.id()));
        let sleeper = found.iter().copied().find(|&id| command(id) == "sleep 20").expect("it was started");
        assert!(resident(sleeper).is_some_and(|bytes| bytes > 0));
        let used = Used::look().expect("Linux tells");
        assert!(
            used.total() > used.own && used.shares().is_some_and(|shares| shares.contains("broccoli itself"))
        );
        let _ = Command::new("kill").arg(sleeper.to_string()).status();
        child.wait().expect("it ends");
    }
}
