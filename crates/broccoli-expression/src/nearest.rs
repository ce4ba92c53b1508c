//! Suggestions for names that were nearly right.

/// The candidate nearest to `name`, if one is near.
pub fn nearest<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['-', ' '], "_");
    let distance = |candidate: &&&str| strsim::osa_distance(&plain(name), &plain(candidate));
    let close = |candidate: &&&str| distance(candidate) <= (name.chars().count() / 3).clamp(1, 3);
    candidates.iter().filter(close).min_by_key(distance).copied()
}

/// The end of a message: a suggestion, or what there is.
pub fn hint(name: &str, candidates: &[&str]) -> String {
    match nearest(name, candidates) {
        Some(near) => format!("; did you mean {near:?}?"),
        None if candidates.len() == 1 => format!("; there is: {}", candidates[0]),
        None => format!("; there are: {}", candidates.join(", ")),
    }
}
