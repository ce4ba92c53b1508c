//! The first split of a region: its entries, made from the points in it.
//!
//! A region is split when the last point is added and one predicate no longer tells its labels apart. Without the
//! last point one still does, and so it does in any part of the region without it: of the two sides of an entry, only
//! the one with the last point can need a split.

use super::{Entry, Group, IMPOSSIBLE, Place, Region, VersionSpace};
use crate::problem::Rank;
use crate::search::behaviour::bounds::Store;

/// What a split works with: the points in the region, given by rank and index, which are sorted; and the bounds of none of
/// them, of the first one, of the first two, …
pub(super) type Scratch<B> = (Vec<(Rank, u32)>, Vec<B>);

impl<S: Store> VersionSpace<S> {
    /// Splits a region that costs more than 1, if that can be done within its budget.
    #[inline(never)]
    pub(super) fn split(&mut self, region: &mut Region<S::Bounds>, place: &Place<'_>) {
        match (place.depth, place.nodes) {
            (0..2, _) | (_, 0..2) => region.cost = IMPOSSIBLE,
            (_, 2) if S::HAS_DIRECTIONS => self.split_by_two(region, place),
            (2, _) => self.enter::<false>(region, place),
            _ => self.enter::<true>(region, place),
        }
    }

    /// Makes the entries of a region that are within its budget. If it is not `DEEP`, its sides cannot be split.
    fn enter<const DEEP: bool>(&mut self, region: &mut Region<S::Bounds>, place: &Place<'_>) {
        let level = place.depth as usize - 2;
        let first = self.entries[level].len;
        let (mut least, mut best) = (IMPOSSIBLE, first);
        let mut whole = None;
        let mut scratch = std::mem::take(&mut self.scratch[level]);
        let (members, below) = &mut scratch;
        let index = |&(_, index): &(Rank, u32)| index as usize;
        let is_in = S::is_in(place);
        members.clear();
        members.extend((0..self.len() as u32).map(|index| (0, index)));
        members.retain(|member| is_in(&self.points.point(index(member))));
        for dimension in 0..self.thresholds.len() {
            // The points that no threshold tells from the last one if this is on the false side, and on the true side.
            let mut near = [S::EMPTY; 2];
            let last = self.points.rank(self.len() - 1, dimension);
            for member in &mut *members {
                let rank = self.points.rank(index(member), dimension);
                if !DEEP && rank <= last {
                    self.store.widen(&mut near[0], &self.points.point(index(member)));
                }
                if !DEEP && rank >= last {
                    self.store.widen(&mut near[1], &self.points.point(index(member)));
                }
                member.0 = rank;
            }
            if !DEEP && near.iter().all(|near| self.store.cost(near, None) == IMPOSSIBLE) {
                continue;
            }
            members.sort_unstable();
            below.clear();
            let mut bounds = S::EMPTY;
            below.push(bounds);
            for member in &*members {
                self.store.widen(&mut bounds, &self.points.point(index(member)));
                below.push(bounds);
            }
            let mut above = S::EMPTY;
            for count in (0..=members.len()).rev() {
                let low = count.checked_sub(1).map_or(0, |last| members[last].0);
                let end = members.get(count).map_or(self.thresholds[dimension], |member| member.0);
                if low < end {
                    let simple = |bounds| Region::simple(bounds, self.store.cost(&bounds, None));
                    let group = Group { dimension: dimension as u16, low, high: end - 1 };
                    let mut entry = Entry { group, sides: [below[count], above].map(simple) };
                    if !DEEP && entry.sides[1].cost == IMPOSSIBLE {
                        break; // and so it stays with more points
                    }
                    if DEEP && entry.cost() > IMPOSSIBLE {
                        let side = usize::from(entry.sides[1].cost == IMPOSSIBLE);
                        let spent = 1 + entry.sides[1 - side].cost;
                        let is_whole = count == 0 || count == members.len();
                        match whole {
                            Some(known) if is_whole => entry.sides[side] = known,
                            _ => self.split(&mut entry.sides[side], &place.side(group, side, spent)),
                        }
                        whole = if is_whole { Some(entry.sides[side]) } else { whole };
                    }
                    if entry.cost() <= place.nodes {
                        (least, best) = (least, best).min((entry.cost(), self.entries[level].len));
                        self.entries[level].push(entry);
                    }
                }
                if let Some(last) = count.checked_sub(1) {
                    self.store.widen(&mut above, &self.points.point(index(&members[last])));
                }
            }
        }
        self.scratch[level] = scratch;
        region.become_split(&mut self.entries[level], first, least, best);
    }
}
