//! What a figure depends on beside the program: the machine, the day, the commit.

use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The processor's model and the number of cores.
pub(crate) fn processor() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{}, {cores} cores", model().unwrap_or_else(|| "unknown processor".to_owned()))
}

fn model() -> Option<String> {
    if let Ok(info) = std::fs::read_to_string("/proc/cpuinfo") {
        let line = info.lines().find(|line| line.starts_with("model name"))?;
        return Some(line.split_once(':')?.1.trim().to_owned());
    }
    output("sysctl", &["-n", "machdep.cpu.brand_string"])
}

/// The load averages over 1, 5 and 15 minutes, where the system tells.
pub(crate) fn load() -> Option<String> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    Some(text.split_whitespace().take(3).collect::<Vec<_>>().join(", "))
}

/// How long this thread has had a processor to itself, where the system tells.
pub(crate) fn busy() -> Option<Duration> {
    // The kernel brings the figure up to date when it schedules, and at ticks that are milliseconds apart.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// How long all threads of this process have had a processor, those included that have ended; to a
/// hundredth of a second.
pub(crate) fn busy_process() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program, in parentheses, may hold anything; the 12th and 13th field after it are
    // time in the program and time in the kernel, in ticks of 10 ms.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |index: usize| fields.get(index)?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks(11)? + ticks(12)?)))
}

/// Today's date in UTC, as year-month-day.
pub(crate) fn date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The day of the Gregorian calendar that is `days` after 1970-01-01.
fn civil(days: u64) -> (u64, u64, u64) {
    // Years are counted from 1 March, so that the leap day is a year's last; 400 years have 146,097 days.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, carry) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + carry, month, day)
}

/// The commit of the sources, with a note if they have changed since; none outside of a repository.
pub(crate) fn commit() -> Option<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let hash = output("git", &["-C", root, "rev-parse", "--short", "HEAD"])?;
    let changes = output("git", &["-C", root, "status", "--porcelain"]).unwrap_or_default();
    Some(if changes.is_empty() { hash } else { format!("{hash} with changes") })
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn days_become_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(11_017), (2000, 3, 1));
        assert_eq!(civil(20_453), (2025, 12, 31));
        assert_eq!(civil(20_454), (2026, 1, 1));
    }
}
