//! Fuzzing of everything that reads what other people wrote. The program is `tests/fuzz/main.rs`; what it has found lies
//! in `saved/`. A package of its own, because it needs all the others, and the other tests hardly any.
