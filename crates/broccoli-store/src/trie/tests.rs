use super::*;

fn answer(observation: &[f64]) -> Answer<'_> {
    Answer { verdict: Verdict::Running, reward: None, observation }
}

#[test]
fn an_answer_is_found_where_it_was_stored_and_nowhere_else() {
    let mut trie = Trie::new(2, 1 << 20);
    let (one, two) = (InitialState::new([1.0]), InitialState::new([2.0]));
    let root = trie.add_root(&one, answer(&[1.0, 2.0])).unwrap();
    let satisfied = Answer { verdict: Verdict::Satisfied, reward: Some(5.0), observation: &[3.0, 4.0] };
    let child = trie.add_child(root, 1, satisfied).unwrap();
    assert_eq!((trie.root(&one), trie.root(&two)), (Some(root), None));
    assert_eq!((trie.child(root, 0), trie.child(root, 1)), (None, Some(child)));
    assert_eq!((trie.child(child, 0), trie.child(child, 1)), (None, None));
    assert!(trie.answer(child).agrees(&satisfied) && !trie.answer(root).agrees(&satisfied));
    assert!(trie.add_root(&one, answer(&[0.0, 0.0])).is_none());
}

#[test]
fn the_way_is_the_shortest() {
    let mut trie = Trie::new(1, 1 << 20);
    let start = InitialState::new([0.0]);
    let mut nodes = vec![trie.add_root(&start, answer(&[0.0])).unwrap()];
    for action in [1, 0, 0, 1] {
        nodes.push(trie.add_child(nodes[nodes.len() - 1], action, answer(&[0.0])).unwrap());
    }
    let mut way = Vec::new();
    assert_eq!(trie.way(nodes[4], None, &mut way), Origin::Reset(&start));
    assert_eq!(way, nodes[1..]);
    assert!(trie.keep(nodes[1], b"one") && trie.keep(nodes[2], b""));
    assert_eq!(trie.way(nodes[4], None, &mut way), Origin::State(b""));
    assert_eq!(way, nodes[3..]);
    assert_eq!(trie.way(nodes[4], Some(nodes[3]), &mut way), Origin::Here);
    assert_eq!(way, nodes[4..]);
    assert_eq!(trie.way(nodes[1], Some(nodes[3]), &mut way), Origin::State(b"one"));
    assert!(way.is_empty());
}

#[test]
fn the_memory_is_never_exceeded() {
    for bytes in [0, 1, 30, 100, 1_000, 10_000] {
        let mut trie = Trie::new(2, bytes);
        let mut node = trie.add_root(&InitialState::new([0.0]), answer(&[0.0, 0.0]));
        let (mut nodes, mut kept) = (0, 0);
        while let Some(at) = node {
            nodes += 1;
            kept += usize::from(trie.keep(at, &[7; 50]));
            node = trie.add_child(at, 0, answer(&[0.0, 0.0]));
        }
        let states = trie.states.capacity() + trie.ends.capacity() * size_of::<usize>();
        let used = states
            + trie.entries.capacity() * size_of::<Entry>()
            + (trie.observations.capacity() + trie.rewards.capacity()) * size_of::<f64>();
        assert!(used <= bytes && states <= bytes / 2, "{bytes}: {used}, {states} of it for states");
        assert!(nodes >= (bytes / 200).saturating_sub(2), "{bytes}: {nodes} nodes");
        assert!(kept >= (bytes / 800).saturating_sub(1), "{bytes}: {kept} states");
    }
}
