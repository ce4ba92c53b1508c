//! `broccoli-book FOLDER` builds the book whose `book.toml` is in the folder. A warning is an error.

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use mdbook_driver::MDBook;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

static HAS_WARNED: AtomicBool = AtomicBool::new(false);

/// Prints warnings and errors, and remembers that there were some.
struct Warnings;

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= &Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        HAS_WARNED.store(true, Ordering::Relaxed);
        event.record(&mut Printer);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Printer;

impl Visit for Printer {
    fn record_debug(&mut self, _: &Field, value: &dyn Debug) {
        eprintln!("warning: {value:?}");
    }
}

fn main() -> Result<()> {
    let folder = std::env::args_os().nth(1).context("usage: broccoli-book FOLDER")?;
    tracing::subscriber::set_global_default(Warnings)?;
    MDBook::load(folder)?.build()?;
    ensure!(!HAS_WARNED.load(Ordering::Relaxed), "the book has warnings");
    Ok(())
}
