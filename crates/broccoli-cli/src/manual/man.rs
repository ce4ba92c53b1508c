//! Man pages: clap_mangen's, with examples and exit codes under headings of their own, line by line.

use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use super::closing;

/// The page of the command and those of its subcommands, each with the name of its file.
pub fn pages(command: &Command) -> io::Result<Vec<(String, String)>> {
    std::iter::once(command).chain(command.get_subcommands()).map(page).collect()
}

fn page(command: &Command) -> io::Result<(String, String)> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let man = Man::new(command.clone()).title(name.to_uppercase());
    let man = man.source(concat!("broccoli ", env!("CARGO_PKG_VERSION"))).manual("Broccoli");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut roff = Roff::new();
    for (heading, lines) in closing(command) {
        roff.control("SH", [heading.to_uppercase().as_str()]);
        // As they are: `.nf` switches filling off.
        roff.control("nf", []);
        for line in lines {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    roff.to_writer(&mut page)?;
    let page = String::from_utf8(page).map_err(io::Error::other)?;
    Ok((format!("{name}.1"), page))
}
