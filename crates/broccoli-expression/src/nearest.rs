//! Suggestions for names that were nearly right.

/// Longer names are not compared: that takes the product of their lengths.
const LONGEST: usize = 100;
/// The most names that a message lists.
const MOST_LISTED: usize = 100;

/// The candidate nearest to `name`, if one is near.
pub fn nearest<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['-', ' '], "_");
    let distance = |candidate: &&&str| strsim::osa_distance(&plain(name), &plain(candidate));
    let close = |candidate: &&&str| distance(candidate) <= (name.chars().count() / 3).clamp(1, 3);
    let short = candidates.iter().filter(|candidate| candidate.len() <= LONGEST);
    short.filter(close).min_by_key(distance).copied()
}

/// The end of a message: a suggestion, or what there is.
pub fn hint(name: &str, candidates: &[&str]) -> String {
    match nearest(name, candidates) {
        Some(near) => format!("; did you mean {near:?}?"),
        None if candidates.len() == 1 => format!("; there is: {}", candidates[0]),
        None if candidates.len() > MOST_LISTED => {
            format!(
                "; there are: {} and {} more",
                candidates[..MOST_LISTED].join(", "),
                candidates.len() - MOST_LISTED
            )
        }
        None => format!("; there are: {}", candidates.join(", ")),
    }
}
